import { parse, YAMLParseError } from 'yaml'
import { CliError } from '../../../exit-code.ts'
import { isJsonObject } from '../../../settings/json-file.ts'
import type { ForeignPrompt } from '../imported-prompt.ts'
import { importDotprompt } from './dotprompt.ts'
import type { FindPartial } from './handlebars-state.ts'
import { importHumanloop } from './humanloop.ts'

// Comments, such as a license, and blank lines may come first.
const frontMatter = /^\uFEFF?((?:(?:#[^\n]*|[ \t]*\r?)\n)*)---[ \t]*\r?\n([\s\S]*?)(?<=\n)---[ \t]*(?:\r?\n|$)/

interface SplitFile {
  head: Record<string, unknown>
  body: string
  /** The line on which the body begins. */
  firstLine: number
}

/** @param path without the extension */
export function splitPromptFile(path: string, text: string): SplitFile {
  const [whole = '', before = '', yaml = ''] = frontMatter.exec(text) ?? []
  const head = whole === '' ? {} : readYaml(yaml.trimEnd(), path, countLines(before))
  return { head, body: text.slice(whole.length).replaceAll('\r\n', '\n'), firstLine: countLines(whole) + 1 }
}

function countLines(text: string): number {
  return text.split('\n').length - 1
}

/**
 * Imports a `.prompt` file of Humanloop or dotprompt. Humanloop puts messages into tags; dotprompt uses Handlebars with
 * `{{role "…"}}`.
 */
export function importPromptFile(path: string, text: string, findPartial: FindPartial): ForeignPrompt {
  const { head, body, firstLine } = splitPromptFile(path, text)
  const isHandlebars = /\{\{~?(?:[#^>!/]|role\s)/.test(body)
  const isHumanloop = 'endpoint' in head || (!isHandlebars && /^\s*<(system|user|assistant)>/.test(body))
  return isHumanloop
    ? importHumanloop(path, head, body, firstLine)
    : importDotprompt(path, head, body, firstLine, findPartial)
}

function readYaml(text: string, path: string, linesBefore: number): Record<string, unknown> {
  try {
    const value: unknown = parse(text) ?? {}
    if (isJsonObject(value)) return value
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error
    // The parser counts lines after the opening `---`.
    const line = linesBefore + (error.linePos?.[0].line ?? 0) + 1
    const [reason = ''] = error.message.split(' at line ')
    throw new CliError('invalid', `${path}.prompt: front matter, line ${line}: ${reason}`)
  }
  throw new CliError('invalid', `${path}.prompt: the front matter is not a map of keys and values`)
}
