import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import type { Prompt } from '@stet/sdk'
import type { Flags, Input } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { isJsonObject } from '../settings/json-file.ts'

/** One `-p` flag. `value` is literal text, the name of a file, or JSON. */
export interface ParameterArgument {
  name: string
  kind: 'text' | 'file' | 'json'
  value: string
}

export const parameterFlags = {
  '-p, --param <name=value>...': 'parameter: name=text, name=@file or name:=json',
  '--params <file>': 'parameters from a JSON file; - is standard input',
} as const satisfies Flags

export interface ParameterInput {
  named: ParameterArgument[]
  /** `-` means standard input. */
  file: string | undefined
}

export function parseParameters(raw: Input<typeof parameterFlags>): ParameterInput {
  return { named: raw.flags.param.map(parseParameter), file: raw.flags.params }
}

/** Reads the parameters. A `-p` flag overrides the parameters file. */
export async function gatherParameters(
  { named, file }: ParameterInput,
  ctx: Context,
): Promise<Record<string, unknown>> {
  if (file === '-' && ctx.flags.apiKeyStdin) {
    throw new CliError('usage', '--params - and --api-key-stdin both read standard input')
  }
  const values = await readParameters(named, ctx.io.cwd)
  if (file === undefined) return values
  if (file === '-') return { ...parseParameterFile(new TextDecoder().decode(await ctx.io.readStdin())), ...values }
  const text = await readFile(resolve(ctx.io.cwd, file), 'utf8').catch(() => {
    throw new CliError('usage', `--params: cannot read ${file}`)
  })
  return { ...parseParameterFile(text), ...values }
}

const mediaTypes: Record<string, string> = {
  '.gif': 'image/gif',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.webp': 'image/webp',
}

export function parseParameter(text: string): ParameterArgument {
  const match = /^([^=]*?)(:?=)([\s\S]*)$/.exec(text)
  const [, name = '', sign = '', value = ''] = match ?? []
  if (name === '') throw new CliError('usage', `-p ${text}: must be name=value, name=@file or name:=json`)
  if (sign === ':=') return { name, kind: 'json', value }
  return value.startsWith('@') ? { name, kind: 'file', value: value.slice(1) } : { name, kind: 'text', value }
}

export async function readParameters(
  args: readonly ParameterArgument[],
  cwd: string,
): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  for (const { name, kind, value } of args) {
    if (kind === 'text') values[name] = value
    else if (kind === 'file') values[name] = await readFileValue(resolve(cwd, value), name)
    else values[name] = parseJson(value, `-p ${name}`)
  }
  return values
}

function parseParameterFile(text: string): Record<string, unknown> {
  const value = parseJson(text, '--params')
  if (isJsonObject(value)) return value
  throw new CliError('usage', '--params must be a JSON object of names and values')
}

// Returns a data URL for known media types and for content that is not UTF-8. Returns other content as text.
async function readFileValue(file: string, name: string): Promise<string> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch {
    throw new CliError('usage', `-p ${name}: cannot read ${file}`)
  }
  const mediaType = mediaTypes[extname(file).toLowerCase()]
  if (mediaType) return `data:${mediaType};base64,${bytes.toString('base64')}`
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return `data:application/octet-stream;base64,${bytes.toString('base64')}`
  }
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CliError('usage', `${what}: not JSON`)
  }
}

/**
 * Starts a run. If the server reports missing parameters, asks for them and starts again. Only incomplete calls cost a
 * second request.
 * @throws CliError usage if parameters are missing and questions are impossible
 */
export async function withMissingParameters<T>(
  start: (parameters: Record<string, unknown>) => Promise<T>,
  parameters: Record<string, unknown>,
  ctx: Context,
): Promise<T> {
  const { UnprocessableEntityError } = await import('@stet/sdk')
  try {
    return await start(parameters)
  } catch (error) {
    const missing = error instanceof UnprocessableEntityError ? missingOf(error.details) : []
    if (missing.length === 0) throw error
    if (!ctx.isInteractive) {
      const flags = missing.map((name) => `-p ${name}=…`).join(' ')
      throw new CliError('usage', `Missing parameters: ${missing.join(', ')}`, { hint: `pass ${flags}` })
    }
    const asked: Record<string, unknown> = {}
    for (const name of missing) asked[name] = await ctx.ask({ message: name, flag: `-p ${name}=…` })
    return start({ ...parameters, ...asked })
  }
}

function missingOf(details: unknown): string[] {
  if (typeof details !== 'object' || details === null || !('missing' in details)) return []
  return Array.isArray(details.missing) ? details.missing.filter((name) => typeof name === 'string') : []
}

export function requiredParameters({ parameters }: Pick<Prompt, 'parameters'>): string[] {
  return Object.entries(parameters)
    .filter(([, { required }]) => required === true)
    .map(([name]) => name)
}

/** Returns the arguments of a first run, quoted for a shell if necessary. */
export function runArguments(path: string, required: readonly string[]): string {
  const flags = required.flatMap((name) => ['-p', `${name}=…`])
  // Behind `--`, nothing is a flag.
  const parts = path.startsWith('-') ? [...flags, '--', path] : [path, ...flags]
  const quoted = parts.map((part) => (/^[\p{L}\p{N}_./@=…-]+$/u.test(part) ? part : `'${part}'`))
  return quoted.join(' ')
}
