/** Puts a caller's `userMessage` into a prompt: as a variable, and as a user message where the prompt does not use it. */
import type { TemplateScan, TemplateSource } from './template-engine.ts'

export const USER_MESSAGE_VARIABLE = 'LATITUDE_USER_MESSAGE'

/** The source to run when there is a user message; positions of the prompt's own text stay. */
export function withUserMessage(source: TemplateSource, scan: Pick<TemplateScan, 'parameters'>): TemplateSource {
  if (scan.parameters.includes(USER_MESSAGE_VARIABLE)) return source
  return { ...source, content: `${source.content}\n<user>{{ ${USER_MESSAGE_VARIABLE} }}</user>` }
}
