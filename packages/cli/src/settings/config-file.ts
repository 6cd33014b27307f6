import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { similarNames } from '@stet/template/similar-names'
import { CliError } from '../exit-code.ts'
import { isJsonObject, parseJsonObject, readTextIfPresent } from './json-file.ts'

/** Commands search for this file in the working folder and its parents, up to the root of the git checkout. */
export const configFileName = 'stet.config.json'

export interface Config {
  baseUrl?: string
  projectId?: number
  promptsDir: string
  include: string[]
  ignore: string[]
  /** `out` is relative to the configuration file's folder. With `strictPaths`, unknown paths are type errors. */
  types: { out: string; strictPaths: boolean; isConfigured: boolean }
  profiles: Record<string, { baseUrl?: string; projectId?: number }>
}

const keys = ['$schema', 'baseUrl', 'projectId', 'promptsDir', 'include', 'ignore', 'types', 'profiles']
const typesKeys = ['out', 'strictPaths']
const profileKeys = ['baseUrl', 'projectId']

export const defaultConfig: Config = {
  promptsDir: 'prompts',
  include: ['**/*.promptl'],
  ignore: [],
  types: { out: 'prompts.gen.d.ts', strictPaths: true, isConfigured: false },
  profiles: {},
}

export function findConfigFile(folder: string): string | undefined {
  return findUpwards(folder, configFileName)
}

/**
 * Returns the value of `$schema`: the relative path of the installed CLI's schema. Returns undefined if neither the
 * folder nor its parents in the checkout have the CLI in `node_modules`.
 */
export function schemaSeenFrom(folder: string): string | undefined {
  const file = findUpwards(folder, join('node_modules', '@stet', 'cli', 'schema', 'config.json'))
  if (file === undefined) return undefined
  const way = relative(folder, file).replaceAll('\\', '/')
  return way.startsWith('..') ? way : `./${way}`
}

/** Searches the folder and its parents, up to the root of the git checkout. */
export function findUpwards(folder: string, name: string): string | undefined {
  for (let current = resolve(folder); ; current = dirname(current)) {
    const file = join(current, name)
    if (existsSync(file)) return file
    if (existsSync(join(current, '.git')) || dirname(current) === current) return undefined
  }
}

/** Unknown keys are errors: a mistyped key would otherwise have no effect. */
export async function readConfigFile(file: string): Promise<Config> {
  const text = await readTextIfPresent(file)
  if (text === undefined) throw new CliError('usage', `${file} not found`, { hint: 'run stet init' })
  return parseConfig(parseJsonObject(text, file), file)
}

export function parseConfig(value: Record<string, unknown>, file: string): Config {
  refuseUnknown(value, keys, file)
  const profiles: Config['profiles'] = {}
  for (const [name, overrides] of Object.entries(objectAt(value, 'profiles', file) ?? {})) {
    if (!isJsonObject(overrides)) throw wrong(file, `profiles.${name}`, 'an object')
    refuseUnknown(overrides, profileKeys, `${file}, profiles.${name}`)
    profiles[name] = addressAndProject(overrides, file)
  }
  return {
    ...addressAndProject(value, file),
    promptsDir: textAt(value, 'promptsDir', file) ?? defaultConfig.promptsDir,
    include: patternsAt(value, 'include', file) ?? defaultConfig.include,
    ignore: patternsAt(value, 'ignore', file) ?? defaultConfig.ignore,
    types: typesAt(value, file),
    profiles,
  }
}

function typesAt(value: Record<string, unknown>, file: string): Config['types'] {
  const types = objectAt(value, 'types', file)
  if (!types) return defaultConfig.types
  refuseUnknown(types, typesKeys, `${file}, types`)
  const strictPaths = types['strictPaths'] ?? defaultConfig.types.strictPaths
  if (typeof strictPaths !== 'boolean') throw wrong(file, 'types.strictPaths', 'true or false')
  return { out: textAt(types, 'out', file) ?? defaultConfig.types.out, strictPaths, isConfigured: true }
}

function addressAndProject(value: Record<string, unknown>, file: string): { baseUrl?: string; projectId?: number } {
  const baseUrl = textAt(value, 'baseUrl', file)
  const projectId = value['projectId']
  if (projectId !== undefined && !(Number.isSafeInteger(projectId) && Number(projectId) > 0)) {
    throw wrong(file, 'projectId', 'a positive integer')
  }
  return { ...(baseUrl && { baseUrl }), ...(projectId !== undefined && { projectId: Number(projectId) }) }
}

function refuseUnknown(value: Record<string, unknown>, known: readonly string[], where: string): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown === undefined) return
  const [nearest] = similarNames(unknown, known, { limit: 1, atLeast: 0 })
  throw new CliError('usage', `${where}: unknown key "${unknown}"`, { hint: `did you mean "${nearest}"?` })
}

function textAt(value: Record<string, unknown>, key: string, file: string): string | undefined {
  const found = value[key]
  if (found === undefined || typeof found === 'string') return found
  throw wrong(file, key, 'a text')
}

function patternsAt(value: Record<string, unknown>, key: string, file: string): string[] | undefined {
  const found = value[key]
  if (found === undefined) return undefined
  if (Array.isArray(found) && found.every((item) => typeof item === 'string')) return found
  throw wrong(file, key, 'a list of patterns')
}

function objectAt(value: Record<string, unknown>, key: string, file: string): Record<string, unknown> | undefined {
  const found = value[key]
  if (found === undefined || isJsonObject(found)) return found
  throw wrong(file, key, 'an object')
}

function wrong(file: string, key: string, expected: string): CliError {
  return new CliError('usage', `${file}: "${key}" must be ${expected}`)
}
