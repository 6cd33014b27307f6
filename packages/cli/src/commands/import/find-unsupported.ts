import type { PromptScan } from '@stet/template'
import { isJsonObject } from '../../settings/json-file.ts'

/** What a prompt says that stet will refuse: it does not compile, or a run of it would fail before its first model call. */
export function findUnsupported({ errors, config }: PromptScan): string[] {
  const found = errors.map(
    ({ line, column, message }) => `Does not compile, line ${line}, column ${column}: ${message}`,
  )
  for (const name of builtInTools(config['tools'])) {
    found.push(`The tool "${name}" is not part of stet: a server module (STET_TOOLS) or the caller has to bring it`)
  }
  if (config['subagents'] !== undefined) found.push('"subagents" is refused: name other prompts in "agents"')
  return found
}

function builtInTools(tools: unknown): string[] {
  const members = Array.isArray(tools) ? tools : [tools]
  return members.flatMap((member) => {
    if (typeof member === 'string') return [member]
    if (!isJsonObject(member)) return []
    // A list below a name stands for tools of a provider; a text below it for one of the service.
    return Object.entries(member).flatMap(([name, definition]) => (isJsonObject(definition) ? [] : [name]))
  })
}
