import type { PromptInput } from '../../runs/inputs/input-value.ts'

// Not characters of any text, and reserved for such marks.
const [open, close] = ['\uFDD0', '\uFDD1']

/**
 * The parameters of a preview: the set inputs, and a stand-in for every other input without a default. Text and files
 * have a mark as their stand-in, which `splitMarks` finds in the messages; the rest has the empty value of its type.
 */
export function previewValues(
  inputs: readonly PromptInput[],
  set: Readonly<Record<string, unknown>>,
  content: string,
): { parameters: Record<string, unknown>; unset: string[] } {
  const unset = inputs.filter(({ name, fallback }) => set[name] === undefined && (fallback ?? null) === null)
  const standIns = unset.map((input) => [input.name, standIn(input, content)] as const)
  return { parameters: { ...set, ...Object.fromEntries(standIns) }, unset: unset.map(({ name }) => name) }
}

function standIn({ name, kind, declared }: PromptInput, content: string): unknown {
  const mark = `${open}${name}${close}`
  if (kind === 'number') return 0
  if (kind === 'boolean') return false
  if (kind === 'image' || kind === 'file') return `data:,${mark}`
  if (kind === 'json') return declared === 'array' ? [mark] : {}
  // A loop over the mark itself would take it apart.
  return content.match(/\bin\s+[\w$]+(?=\s*\}\})/g)?.some((loop) => loop.split(/\s+/)[1] === name) ? [mark] : mark
}

/** Splits a text at its marks: every second part is the name of an input. */
export function splitMarks(text: string): string[] {
  return text.split(/\uFDD0([^\uFDD0\uFDD1]*)\uFDD1/)
}
