/** Checks answers against the `schema` of a prompt, and the schema itself before any answer is paid for. */
import {
  dereference,
  type OutputUnit,
  type Schema,
  type SchemaDraft,
  schemaArrayKeyword,
  schemaKeyword,
  schemaMapKeyword,
  Validator,
  validate,
} from '@cfworker/json-schema'
import { type CompileIssue, issueAt, normaliseLineEnds } from './compile-error.ts'
import type { PromptSource } from './compiled-prompt.ts'
import { isObject } from './rendering/read-parameters.ts'

/** Keywords whose errors only say that a deeper part has an error. */
const containers = new Set(
  (
    '$ref allOf if properties patternProperties additionalProperties dependentSchemas items prefixItems ' +
    'additionalItems unevaluatedItems unevaluatedProperties'
  ).split(' '),
)

const mostIssues = 5
const mostCharacters = 500

/** Lists the first issues of a value. @throws Error for a schema that cannot be applied. */
export function answerIssues(schema: Schema, value: unknown): { path: string; message: string }[] {
  const { valid, errors } = applied(() => new Validator(schema, draftOf(schema), false).validate(value))
  if (valid) return []
  const deepest = errors.filter(({ keyword }) => !containers.has(keyword))
  return (deepest.length > 0 ? deepest : errors).slice(0, mostIssues).map(issueOf)
}

type Config = Readonly<Record<string, unknown>>

/**
 * Lists the issue of a schema that cannot be applied: the front matter's or, if given, the one that a step has instead.
 * A schema that answers are not checked against has none.
 */
export function schemaIssues(
  { path, content }: Pick<PromptSource, 'path' | 'content'>,
  front: Config,
  step?: Config,
): CompileIssue[] {
  const schema = schemaToTry(front, step)
  const fault = schema === undefined ? undefined : schemaFault(schema)
  if (fault === undefined) return []
  const text = normaliseLineEnds(content)
  const start = text.search(step ? /\bschema=/ : /^["']?schema["']?[ \t]*:/m)
  return [
    issueAt({ path, text, start: Math.max(0, start) }, 'invalid-schema', `The schema cannot be applied: ${fault}`),
  ]
}

/** The schema whose issue `schemaIssues` would list, as JSON. Trying it may take endless time. */
export function schemaToTry(front: Config, step?: Config): string | undefined {
  // A step without a schema of its own has the one of the front matter.
  if (step !== undefined && step['schema'] === front['schema'] && step['validate'] === front['validate'])
    return undefined
  const schema = checkedSchema(step ?? front)
  return step !== undefined && schema === checkedSchema(front) ? undefined : schema
}

/** As JSON, because aliases of YAML share objects, which the validator would give one address. */
function checkedSchema({ schema, validate: isChecked }: Config): string | undefined {
  return schema === undefined || schema === null || String(isChecked) === 'false' ? undefined : JSON.stringify(schema)
}

/** Says why a schema cannot be applied to some answer. Applies each part that an answer may reach to small values. */
function schemaFault(json: string): string | undefined {
  const schema: unknown = JSON.parse(json)
  if (!isObject(schema)) return 'it is not a map'
  const draft = draftOf(schema)
  let at = ''
  try {
    const lookup = applied(() => dereference(schema))
    // The last parts are the innermost, so that a fault is located there.
    for (const [part, place] of [...partsOf(schema, draft, lookup)].reverse()) {
      at = place
      for (const value of trialValues(part)) applied(() => validate(value, part, draft, lookup, false))
      if (!isObject(part) || part.type === undefined) continue
      const names: unknown[] = Array.isArray(part.type) ? part.type : [part.type]
      if (!names.some((name) => types.has(name))) return located('`type` names no type of JSON', at)
    }
    return undefined
  } catch (error) {
    return located((error as Error).message, at)
  }
}

function located(fault: string, place: string): string {
  return place === '' ? fault : `${fault} (at ${place})`
}

const types = new Set<unknown>(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

/** Lists the root and the parts below it, and those that they refer to. Values under unknown keywords are no schemas. */
function partsOf(root: Schema, draft: SchemaDraft, lookup: Record<string, Schema | boolean>) {
  const places = new Map<Schema, string>([[root, '']])
  const add = (part: unknown, place: string): void => {
    if (isObject(part) && !places.has(part)) places.set(part, place)
  }
  // Iterating over a map also visits entries added during the iteration.
  for (const [part, place] of places) {
    const target = part.__absolute_ref__
    if (target !== undefined) add(lookup[target], part.$ref ?? place)
    // These drafts ignore the other keywords beside a reference.
    if (target !== undefined && (draft === '4' || draft === '7')) continue
    for (const [key, value] of Object.entries(part)) {
      const isList = Array.isArray(value) && key in schemaArrayKeyword
      const isSchemas = key in schemaMapKeyword && key !== '$defs' && key !== 'definitions'
      if (isList || (isObject(value) && (isSchemas || key === 'dependencies'))) {
        for (const [name, child] of Object.entries(value)) add(child, `${place}/${key}/${name}`)
      } else if (key in schemaKeyword) add(value, `${place}/${key}`)
    }
  }
  return places
}

/** Small values of every type. Lists and objects have a value for each part that has its own place. */
function trialValues(part: Schema): unknown[] {
  const { properties, dependentRequired, dependentSchemas, dependencies, prefixItems, items } = part
  const keys = [properties, dependentRequired, dependentSchemas, dependencies].flatMap((map) => Object.keys(map ?? {}))
  const length = Math.max(...[prefixItems, items].map((list) => (Array.isArray(list) ? list.length : 0))) + 1
  const object = Object.fromEntries([...keys, ''].map((key) => [key, null]))
  return [null, true, 0, '', [], Array(length).fill(null), {}, object]
}

/**
 * The validator compiles patterns with the flag `u`. Providers and other validators also accept those that are valid
 * only without it, such as `[\w-.]`.
 */
const tolerant = new Proxy(RegExp, {
  construct(target, [pattern, flags]: [string, string]) {
    try {
      return new target(pattern, flags)
    } catch {
      return new target(pattern)
    }
  },
})

/** Calls the validator. @throws Error with a reason that does not depend on the validator's internal names. */
function applied<T>(work: () => T): T {
  const strict = globalThis.RegExp
  globalThis.RegExp = tolerant
  try {
    return work()
  } catch (error) {
    throw new Error(reasonOf(error as Error))
  } finally {
    globalThis.RegExp = strict
  }
}

function reasonOf(error: Error): string {
  const [, reference] = /^Unresolved \$ref ("[^"]*")/.exec(error.message) ?? []
  if (reference !== undefined) return `it refers to ${reference}, which it does not contain`
  if (error instanceof SyntaxError) return error.message.replace(/^I/, 'i')
  if (error instanceof RangeError) return 'it refers to itself without an end'
  if (error.message.startsWith('Duplicate schema URI')) return 'two of its parts have the same `$id`'
  return 'a keyword has a value of the wrong type'
}

function issueOf({ instanceLocation, error }: OutputUnit): { path: string; message: string } {
  // The validator calls the value "instance", and writes its path as a URI fragment.
  const message = error.replace(/^Instance\b/, 'The value').slice(0, mostCharacters)
  return { path: instanceLocation.replace(/^#/, '').slice(0, mostCharacters), message }
}

function draftOf({ $schema }: Schema): SchemaDraft {
  const name = String($schema)
  if (/draft-0?4/.test(name)) return '4'
  if (/draft-0?[67]/.test(name)) return '7'
  return name.includes('2019-09') ? '2019-09' : '2020-12'
}
