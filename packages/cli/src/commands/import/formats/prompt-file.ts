import { parse } from 'yaml'
import { CliError } from '../../../exit-code.ts'
import { isJsonObject } from '../../../settings/json-file.ts'
import type { ImportedPrompt } from '../imported-prompt.ts'
import { importDotprompt } from './dotprompt.ts'
import { importHumanloop } from './humanloop.ts'

const frontMatter = /^\uFEFF?\s*---[ \t]*\r?\n([\s\S]*?)\r?\n?---[ \t]*(?:\r?\n|$)/

/**
 * One `.prompt` file. Two tools use that ending: Humanloop puts messages into tags, dotprompt into Handlebars with `{{role "…"}}`.
 *
 * @param path without the ending
 */
export function importPromptFile(path: string, text: string): ImportedPrompt {
  const match = frontMatter.exec(text)
  const head = match ? readYaml(match[1] ?? '', path) : {}
  const body = text.slice(match?.[0].length ?? 0).replaceAll('\r\n', '\n')
  const isHumanloop = 'endpoint' in head || /^\s*<(system|user|assistant)>/.test(body)
  return isHumanloop ? importHumanloop(path, head, body) : importDotprompt(path, head, body)
}

function readYaml(text: string, path: string): Record<string, unknown> {
  try {
    const value: unknown = parse(text) ?? {}
    if (isJsonObject(value)) return value
  } catch (error) {
    throw new CliError('invalid', `${path}.prompt: ${error instanceof Error ? error.message.split('\n')[0] : error}`)
  }
  throw new CliError('invalid', `${path}.prompt: the front matter is no map of keys and values`)
}
