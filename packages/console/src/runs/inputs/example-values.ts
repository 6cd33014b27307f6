/** The values of an example that is saved now. Pure. */
import type { EXAMPLE_LIMITS } from '@stet/contract/vocabulary'
import type { Example } from '@stet/sdk'
import { sizeText } from '../../ui/data-url.ts'
import type { Parsed } from './input-value.ts'

// Only the type is imported, so the page does not contain the vocabulary. Another limit does not compile.
const limitBytes: (typeof EXAMPLE_LIMITS)['bytes'] = 262_144

/**
 * @param current the chosen example
 * @param saved the values of the fields when they are filled from it
 */
export function exampleValues(
  current: Pick<Example, 'parameters' | 'messages'> | undefined,
  saved: Record<string, unknown>,
  { parameters, problems }: Parsed,
) {
  const unread = Object.keys(problems)
  // An input that this version of the prompt does not declare has no field. Its value stays in the example.
  const kept = Object.entries(current?.parameters ?? {}).filter(
    ([name]) => !Object.hasOwn(saved, name) || Object.hasOwn(parameters, name),
  )
  const values = { parameters: { ...Object.fromEntries(kept), ...parameters }, messages: current?.messages ?? [] }
  return {
    isChanged: current !== undefined && (unread.length > 0 || isDifferent(parameters, saved)),
    values,
    problem: unread.length > 0 ? `Correct ${unread.join(', ')} first.` : tooLarge(values.parameters, values.messages),
  }
}

function isDifferent(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return true
  return names.some((name) => one[name] !== other[name] && JSON.stringify(one[name]) !== JSON.stringify(other[name]))
}

/** Says that an example is too large, and which input has most of it. Null if it fits. */
function tooLarge(parameters: Record<string, unknown>, messages: readonly unknown[]): string | null {
  const bytes = bytesOf({ parameters, messages })
  if (bytes <= limitBytes) return null
  const [largest] = Object.entries(parameters)
    .map(([name, value]) => ({ name, bytes: bytesOf(value) }))
    .sort((one, other) => other.bytes - one.bytes)
  const alone = largest ? ` (${largest.name} alone: ${sizeText(largest.bytes)})` : ''
  return `An example can hold at most ${sizeText(limitBytes)}. These inputs take ${sizeText(bytes)}${alone}.`
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}
