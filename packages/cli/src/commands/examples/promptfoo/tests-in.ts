/** Finds the tests of a configuration: in it, in files that it names, and in its scenarios. */
import { isJsonObject } from '../../../settings/json-file.ts'
import { parseExactJson } from '../rows/exact-json.ts'
import { type Loss, RefusedRow } from '../rows/row.ts'
import { csvTests } from './csv-tests.ts'
import { type Fields, type Files, Lost, type Place, type Source, type Test } from './files.ts'

type Path = readonly (string | number)[]

interface Found {
  files: Files
  losses: Loss[]
}

const deepest = 5

/** @param found receives what was left out */
export async function testsIn(root: Source, found: Found): Promise<Test[]> {
  const { value, file } = root
  if (Array.isArray(value)) return readTests(root, [], found)
  if (!isJsonObject(value))
    throw new RefusedRow(file, 1, 'a configuration of promptfoo is a mapping, or a list of tests')
  const { tests = [], scenarios = [] } = value
  const plain = await readTests({ ...root, value: tests, lineAt: (path) => root.lineAt(['tests', ...path]) }, [], found)
  return [...plain, ...(await readScenarios(root, scenarios, found))]
}

async function readTests(source: Source, path: Path, found: Found, depth = 0): Promise<Test[]> {
  const { file } = source
  const value = path.reduce<unknown>((inside, key) => Object(inside)[key], source.value)
  const line = source.lineAt(path)
  if (depth > deepest) throw new RefusedRow(file, line, 'files of tests name one another')
  if (Array.isArray(value)) {
    const tests: Test[] = []
    for (const index of value.keys()) tests.push(...(await readTests(source, [...path, index], found, depth + 1)))
    return tests
  }
  if (isJsonObject(value)) return testsOf(value, { file, line }, found)
  if (typeof value !== 'string') throw new RefusedRow(file, line, 'a test is a mapping, or the name of a file')
  return fromFile(value, { file, line }, found, depth)
}

/** A mapping may also name a file with a generator of tests. */
function testsOf(value: Fields, place: Place, { losses }: Found): Test[] {
  const { path } = value
  if (typeof path !== 'string' || !path.startsWith('file://')) return [{ ...place, value }]
  losses.push({ ...place, name: null, message: `tests of ${path} are left out: they come from a program` })
  return []
}

async function fromFile(reference: string, place: Place, found: Found, depth: number): Promise<Test[]> {
  try {
    if (/^(https?|huggingface|az|s3):/.test(reference)) throw new Lost(`${reference} is not a file of this folder`)
    const source = await found.files.read(reference, place)
    if (/\.csv$/i.test(reference)) return csvTests(source)
    if (/\.jsonl$/i.test(reference)) return jsonLines(source)
    return await readTests(source, [], found, depth + 1)
  } catch (error) {
    if (!(error instanceof Lost)) throw error
    found.losses.push({ ...place, name: null, message: `tests are left out: ${error.message}` })
    return []
  }
}

function jsonLines({ value, file }: Source): Test[] {
  return String(value)
    .split('\n')
    .flatMap((text, index): Test[] => {
      if (text.trim() === '') return []
      const line = index + 1
      const refuse = (fault: string) => new RefusedRow(file, line, fault)
      const test = parseExactJson(text, refuse)
      if (!isJsonObject(test)) throw refuse('a test is a mapping')
      return [{ file, line, value: test }]
    })
}

/** Each scenario combines its sets of variables with its tests. */
async function readScenarios(root: Source, scenarios: unknown, found: Found): Promise<Test[]> {
  if (!Array.isArray(scenarios)) return []
  const tests: Test[] = []
  for (const [index, scenario] of scenarios.entries()) {
    const path = ['scenarios', index]
    const { config, tests: own = [{}] } = Object(scenario) as Fields
    if (typeof scenario === 'string' || !Array.isArray(config)) {
      const place = { file: root.file, line: root.lineAt(path) }
      found.losses.push({ ...place, name: null, message: 'a scenario without a list of sets is left out' })
      continue
    }
    const lineAt = (inner: Path) => root.lineAt([...path, 'tests', ...inner])
    const ofScenario = await readTests({ ...root, value: own, lineAt }, [], found)
    for (const set of config.filter(isJsonObject)) for (const test of ofScenario) tests.push(combined(set, test))
  }
  return tests
}

function combined(set: Fields, test: Test): Test {
  return { ...test, value: merged(set, test.value) }
}

/** Variables and options of `over` win. Assertions of both apply. */
export function merged(under: Fields, over: Fields): Fields {
  const both = (key: string) => ({ ...asObject(under[key]), ...asObject(over[key]) })
  // A value that is not a list is kept, so that the loss report names it as an invalid assertion.
  const list = (value: unknown): unknown[] =>
    Array.isArray(value) ? value : value === undefined || value === null ? [] : [String(value)]
  const options = both('options')
  const assert =
    options['disableDefaultAsserts'] === true
      ? list(over['assert'])
      : [...list(under['assert']), ...list(over['assert'])]
  return { ...under, ...over, vars: varsOf(under['vars'], over['vars']), options, assert }
}

/** Variables in a file are read later. */
function varsOf(under: unknown, over: unknown): unknown {
  if (typeof over === 'string' || Array.isArray(over)) return over
  if (typeof under === 'string' || Array.isArray(under)) return over === undefined ? under : over
  return { ...asObject(under), ...asObject(over) }
}

function asObject(value: unknown): Fields {
  return isJsonObject(value) ? value : {}
}
