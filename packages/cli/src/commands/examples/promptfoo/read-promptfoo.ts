/** Reads the tests of a configuration of promptfoo as rows. What a row cannot have is listed as a loss. */

import { CHECK_LIMITS } from '@stet/contract/vocabulary'
import type { Check } from '@stet/sdk'
import { isJsonObject } from '../../../settings/json-file.ts'
import { type FileRow, type Loss, type ReadRows, RefusedRow } from '../rows/row.ts'
import { checksOf, filledIn } from './checks-of.ts'
import { type Fields, Files, Lost, type Place, parseYaml, type Source, type Test } from './files.ts'
import { merged, testsIn } from './tests-in.ts'

const mostRows = 1_000
const judgeTag = 'needs-judge'
/** Parts of a configuration that decide how tests run. Others only describe it. */
const lostParts = ['prompts', 'providers', 'targets', 'extensions', 'nunjucksFilters', 'redteam', 'derivedMetrics']
/** Parts of a test that have no counterpart. */
const known = ['vars', 'assert', 'description', 'options']
const harmlessOptions = ['disableVarExpansion', 'disableDefaultAsserts', 'rubricPrompt', 'provider', 'runSerially']

interface Configuration {
  /** The folder of the configuration. Nothing outside of it is read. */
  folder: string
  /** As messages show it. */
  shown: string
  text: string
}

/** @throws RefusedRow */
export async function readPromptfoo({ folder, shown, text }: Configuration): Promise<ReadRows> {
  const root = resolvedReferences(parseYaml(shown, text))
  const files = new Files(folder, shown)
  const losses: Loss[] = []
  const config = isJsonObject(root.value) ? root.value : {}
  for (const part of lostParts.filter((key) => Object.hasOwn(config, key)))
    losses.push({ file: shown, line: root.lineAt([part]), name: null, message: `${part} are left out` })
  const defaults = await defaultTest(config['defaultTest'], { root, files })
  const rows: FileRow[] = []
  const names = new Map<string, number>()
  for (const test of await testsIn(root, { files, losses })) {
    const value = defaults ? merged(defaults, test.value) : test.value
    for (const row of await rowsOf({ ...test, value }, { files, losses, names })) rows.push(row)
    if (rows.length > mostRows) throw new RefusedRow(test.file, test.line, `the tests make more than ${mostRows} rows`)
  }
  return { rows, losses }
}

async function defaultTest(
  value: unknown,
  { root, files }: { root: Source; files: Files },
): Promise<Fields | undefined> {
  if (typeof value !== 'string') return isJsonObject(value) ? value : undefined
  const read = await files.read(value, { file: root.file, line: root.lineAt(['defaultTest']) })
  return isJsonObject(read.value) ? read.value : undefined
}

interface Collected {
  files: Files
  losses: Loss[]
  /** How often each name was given. */
  names: Map<string, number>
}

async function rowsOf(test: Test, { files, losses, names }: Collected): Promise<FileRow[]> {
  const { file, line, value } = test
  const { description, options, assert } = value
  const own: Loss[] = []
  let lose = (message: string): void => void own.push({ file, line, name: null, message })
  for (const key of Object.keys(value).filter((part) => !known.includes(part))) lose(`${key} is left out`)
  const optionKeys = Object.keys(isJsonObject(options) ? options : {})
  for (const key of optionKeys.filter((part) => !harmlessOptions.includes(part))) lose(`the option ${key} is left out`)
  const expands = !(isJsonObject(options) && options['disableVarExpansion'] === true)
  const rows: FileRow[] = []
  for (const parameters of await variablesOf(test, { files, expands, lose: (message) => lose(message) })) {
    const name = nameOf(description, parameters, names)
    const ofRow: Loss[] = []
    lose = (message) => void ofRow.push({ file, line, name: name ?? null, message })
    const { checks, needsJudge } = await convert(assert, parameters, { test, files, lose })
    const change = { parameters, checks, ...(needsJudge && { tags: [judgeTag] }) }
    refuseInfinite(change, test)
    rows.push({ file, line, change, ...(name !== undefined && { name }) })
    losses.push(...own.splice(0).map((loss) => ({ ...loss, name: name ?? null })), ...ofRow)
  }
  return rows
}

/** JSON would have null instead. @throws RefusedRow */
function refuseInfinite(change: object, { file, line }: Place): void {
  JSON.stringify(change, (key, value: unknown) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    throw new RefusedRow(file, line, `${key}: ${value} is not a finite number; write it as a text`)
  })
}

/** A description may be shared by tests. The second one of a name gets a number. */
function nameOf(description: unknown, parameters: Fields, names: Map<string, number>): string | undefined {
  if (typeof description !== 'string' || description.trim() === '') return undefined
  let name = description.trim().replaceAll(/[\s\p{Cc}]+/gu, ' ')
  try {
    name = String(filledIn(name, parameters))
  } catch (error) {
    if (!(error instanceof Lost)) throw error
  }
  name = [...name].slice(0, 250).join('')
  const count = (names.get(name) ?? 0) + 1
  names.set(name, count)
  return count === 1 ? name : `${name} ${count}`
}

interface Converting {
  test: Test
  files: Files
  lose(message: string): void
}

async function convert(assert: unknown, parameters: Fields, { test, files, lose }: Converting) {
  const checks: Check[] = []
  let needsJudge = false
  if (assert !== undefined && assert !== null && !Array.isArray(assert)) lose('assert is left out: it is no list')
  for (const assertion of Array.isArray(assert) ? assert : []) {
    try {
      if (!isJsonObject(assertion)) throw new Lost('an assertion that is no mapping')
      checks.push(...(await checksOf(assertion, parameters, files, test)))
    } catch (error) {
      if (!(error instanceof Lost)) throw error
      needsJudge ||= error.needsJudge
      lose(error.message)
    }
  }
  const surplus = checks.splice(CHECK_LIMITS.checks)
  if (surplus.length > 0)
    lose(`a row has at most ${CHECK_LIMITS.checks} checks: the last ${surplus.length} are left out`)
  return { checks, needsJudge }
}

interface Variables {
  files: Files
  /** Whether a list gives a row for each of its values. */
  expands: boolean
  lose(message: string): void
}

/** Reads the variables of a test, and the combinations of lists among them. */
async function variablesOf({ value, file, line }: Test, { files, expands, lose }: Variables): Promise<Fields[]> {
  const vars = await readVariables(value['vars'] ?? {}, { file, line }, files).catch((error: unknown) => {
    if (!(error instanceof Lost)) throw error
    lose(`the variables: ${error.message}`)
    return {}
  })
  if (!isJsonObject(vars)) throw new RefusedRow(file, line, 'the variables of a test are a mapping')
  let combinations: Fields[] = [{}]
  for (const [name, given] of Object.entries(vars)) {
    const choices = expands && Array.isArray(given) ? given : [given]
    const read: unknown[] = []
    for (const choice of choices) {
      try {
        const isFile = typeof choice === 'string' && choice.startsWith('file://')
        const content = isFile ? (await files.read(choice, { file, line })).value : choice
        read.push(isFile && typeof content === 'string' ? content.trim() : content)
      } catch (error) {
        if (!(error instanceof Lost)) throw error
        lose(`the variable ${name}: ${error.message}`)
      }
    }
    if (read.length * combinations.length > mostRows)
      throw new RefusedRow(file, line, `the lists make more than ${mostRows} rows`)
    if (read.length > 0) combinations = combinations.flatMap((one) => read.map((entry) => ({ ...one, [name]: entry })))
  }
  return combinations.map((parameters) => filled(parameters, lose))
}

/** Variables may be in files. Those of a later one win. */
async function readVariables(vars: unknown, from: Place, files: Files): Promise<unknown> {
  if (typeof vars === 'string') return (await files.read(vars, from)).value
  if (!Array.isArray(vars) || vars.length === 0 || !vars.every((name) => typeof name === 'string')) return vars
  const read: unknown[] = []
  for (const name of vars) read.push((await files.read(name, from)).value)
  return read.every(isJsonObject) ? Object.assign({}, ...read) : read
}

/** Variables may contain others. */
function filled(parameters: Fields, lose: (message: string) => void): Fields {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      try {
        return [name, filledIn(value, parameters)]
      } catch (error) {
        if (!(error instanceof Lost)) throw error
        lose(`the variable ${name} keeps ${error.message}`)
        return [name, value]
      }
    }),
  )
}

// References within references multiply.
const mostValues = 100_000

/** Replaces `$ref: '#/…'` by the part of the configuration that it names. @throws RefusedRow */
function resolvedReferences(root: Source): Source {
  let values = 0
  const resolve = (value: unknown, depth: number, isInside: boolean): unknown => {
    if (isInside) values += 1
    if (values > mostValues) throw new RefusedRow(root.file, 1, `$ref makes more than ${mostValues} values`)
    if (depth > 20) return value
    if (Array.isArray(value)) return value.map((entry) => resolve(entry, depth + 1, isInside))
    if (!isJsonObject(value)) return value
    const reference = value['$ref']
    if (typeof reference === 'string' && reference.startsWith('#/') && Object.keys(value).length === 1) {
      const target = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((inside, key) => Object(inside)[key], root.value)
      return resolve(target, depth + 1, true)
    }
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, resolve(entry, depth + 1, isInside)]))
  }
  return { ...root, value: resolve(root.value, 0, false) }
}
