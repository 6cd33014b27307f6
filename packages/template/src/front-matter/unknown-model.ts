import { issueAt, normaliseLineEnds } from '../compile-error.ts'
import type { PromptSource } from '../compiled-prompt.ts'
import type { PromptIssue } from './prompt-issues.ts'

const FILLED_LINE = /^([ \t]*)([^\s#].*)/gm

/**
 * A warning at the `model` of the front matter, for a model that its provider is not known to have.
 * @param near the model that was probably meant
 */
export function unknownModel(
  { path, content }: Pick<PromptSource, 'path' | 'content'>,
  { model, provider, near }: { model: string; provider: string; near: string | undefined },
): PromptIssue {
  const text = normaliseLineEnds(content)
  const hint = near === undefined ? '' : `. Did you mean \`${near}\`?`
  const message = `\`${model}\` is not in the list of models of ${provider}${hint}`
  return { ...issueAt({ path, text, ...findKey(text) }, 'unknown-model', message), severity: 'warning' }
}

/**
 * Finds the key `model` of the front matter's block map. Compares lines, because this runs for each prompt of a list and
 * the YAML parser takes long for hostile text. Returns the start of the text if the map has another form.
 */
function findKey(text: string): { start: number; end: number } {
  let isInside = false
  let indent: string | undefined
  for (const { 1: blanks = '', 2: line = '', index } of text.matchAll(FILLED_LINE)) {
    if (isInside && line.startsWith('---')) break
    if (isInside) {
      indent ??= blanks
      const [key] = /^(["']?)model\1(?=[ \t]*:)/.exec(line) ?? []
      const start = index + blanks.length
      if (key !== undefined && blanks === indent) return { start, end: start + key.length }
    }
    isInside ||= /^---(?!-)/.test(line)
  }
  return { start: 0, end: 0 }
}
