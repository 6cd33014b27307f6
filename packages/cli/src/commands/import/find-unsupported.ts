import type { PromptScan } from '@stet/template'
import { isJsonObject } from '../../settings/json-file.ts'

/** What stet will refuse in a prompt: compile errors, and features that fail before the first model call. */
export function findUnsupported({ errors, config }: PromptScan): string[] {
  const found = errors.map(
    ({ line, column, message }) => `Does not compile, line ${line}, column ${column}: ${message}`,
  )
  for (const name of builtInTools(config['tools'])) {
    found.push(`The tool "${name}" is not part of stet: a server module (STET_TOOLS) or the caller must provide it`)
  }
  if (config['subagents'] !== undefined) found.push('"subagents" is not supported: list other prompts under "agents"')
  return found
}

function builtInTools(tools: unknown): string[] {
  const members = Array.isArray(tools) ? tools : [tools]
  return members.flatMap((member) => {
    if (typeof member === 'string') return [member]
    if (!isJsonObject(member)) return []
    // A list under a name means provider tools; a text means one tool of the service.
    return Object.entries(member).flatMap(([name, definition]) => (isJsonObject(definition) ? [] : [name]))
  })
}
