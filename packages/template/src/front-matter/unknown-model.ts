import { issueAt, normaliseLineEnds } from '../compile-error.ts'
import type { PromptSource } from '../compiled-prompt.ts'
import type { PromptIssue } from './prompt-issues.ts'

/**
 * A warning at the `model` of the front matter, for a model that its provider is not known to have.
 * @param near the model that was probably meant
 */
export function unknownModel(
  { path, content }: Pick<PromptSource, 'path' | 'content'>,
  { model, provider, near }: { model: string; provider: string; near: string | undefined },
): PromptIssue {
  const text = normaliseLineEnds(content)
  const found = /^[ \t]*(["']?model["']?)[ \t]*:/m.exec(text)
  const [line = '', key = ''] = found ?? []
  const start = (found?.index ?? 0) + line.indexOf(key)
  const hint = near === undefined ? '' : `. Did you mean \`${near}\`?`
  const message = `\`${model}\` is not in the list of models of ${provider}${hint}`
  return { ...issueAt({ path, text, start, end: start + key.length }, 'unknown-model', message), severity: 'warning' }
}
