import { parse, YAMLParseError } from 'yaml'
import { CliError } from '../../../exit-code.ts'
import { isJsonObject } from '../../../settings/json-file.ts'
import type { ForeignPrompt } from '../imported-prompt.ts'
import { importDotprompt } from './dotprompt.ts'
import { importHumanloop } from './humanloop.ts'

const frontMatter = /^\uFEFF?\s*---[ \t]*\r?\n([\s\S]*?)\r?\n?---[ \t]*(?:\r?\n|$)/

/**
 * Imports a `.prompt` file of Humanloop or dotprompt. Humanloop puts messages into tags; dotprompt uses Handlebars with
 * `{{role "…"}}`.
 * @param path without the extension
 */
export function importPromptFile(path: string, text: string): ForeignPrompt {
  const match = frontMatter.exec(text)
  const head = match ? readYaml(match[1] ?? '', path) : {}
  const body = text.slice(match?.[0].length ?? 0).replaceAll('\r\n', '\n')
  const isHumanloop = 'endpoint' in head || /^\s*<(system|user|assistant)>/.test(body)
  const firstLine = (match?.[0] ?? '').split('\n').length
  return isHumanloop ? importHumanloop(path, head, body, firstLine) : importDotprompt(path, head, body, firstLine)
}

function readYaml(text: string, path: string): Record<string, unknown> {
  try {
    const value: unknown = parse(text) ?? {}
    if (isJsonObject(value)) return value
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error
    // The parser counts lines after the opening `---`.
    const line = (error.linePos?.[0].line ?? 0) + 1
    const [reason = ''] = error.message.split(' at line ')
    throw new CliError('invalid', `${path}.prompt: front matter, line ${line}: ${reason}`)
  }
  throw new CliError('invalid', `${path}.prompt: the front matter is not a map of keys and values`)
}
