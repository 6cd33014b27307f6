import type { AST } from '@handlebars/parser'
import { isJsonObject } from '../../../settings/json-file.ts'
import { type Naming, variableName } from '../placeholders.ts'
import { member } from '../prompt-text.ts'

/** A JSON Schema of a value, as far as the front matter declares it. */
export type Schema = Readonly<Record<string, unknown>>

/** An expression of stet's language. */
export interface Value {
  code: string
  schema?: Schema | undefined
}

/** A block or partial that changes the context. The first scope is the template's own. */
export interface Scope {
  /** The value of `this`. Absent where names are parameters. */
  context?: Value | undefined
  /** Names that a partial is called with. */
  passed?: ReadonlyMap<string, Value>
  /** Names of `as |item index|`. */
  blockParams?: ReadonlyMap<string, Value>
  loop?: { index: string; list: string }
}

export interface Names extends Naming {
  scopes: Scope[]
  /** The declared input. */
  input: Schema | undefined
  /** Types of parameters that follow from their use. */
  types: Map<string, string>
}

/** Translates an expression of Handlebars. Returns undefined if stet's language has no equivalent. */
export function translate(expression: AST.Expression, names: Names): Value | undefined {
  switch (expression.type) {
    case 'StringLiteral':
      return { code: JSON.stringify((expression as AST.StringLiteral).value), schema: { type: 'string' } }
    case 'NumberLiteral':
    case 'BooleanLiteral':
      return { code: String((expression as AST.NumberLiteral).value), schema: { type: 'number' } }
    case 'NullLiteral':
      return { code: 'null' }
    case 'UndefinedLiteral':
      return { code: 'undefined' }
    case 'PathExpression':
      return translatePath(expression as AST.PathExpression, names)
    case 'SubExpression': {
      const { path, params, hash } = expression as AST.SubExpression
      return isNamed(path, 'lookup') && !hash ? translateLookup(params, names) : undefined
    }
    default:
      return undefined
  }
}

export function isNamed(path: AST.Node, name: string): boolean {
  return path.type === 'PathExpression' && (path as AST.PathExpression).original === name
}

/** `lookup` reads a property whose name is a value. */
export function translateLookup([object, key]: readonly AST.Expression[], names: Names): Value | undefined {
  const [from, name] = [object && translate(object, names), key && translate(key, names)]
  return from && name && { code: `${from.code}?.[${name.code}]` }
}

function translatePath(path: AST.PathExpression, names: Names): Value | undefined {
  const { data, depth, original } = path
  if (path.parts.some((part) => typeof part !== 'string')) return undefined
  const [head, ...rest] = path.parts as string[]
  if (data) return head === 'root' ? ofRoot(rest, names) : ofLoop([head ?? '', ...rest], depth, names)
  const isScoped = /^(?:this|\.)(?:[./]|$)/.test(original)
  if (depth === 0 && !isScoped && head !== undefined) {
    const scope = names.scopes.findLast(({ blockParams }) => blockParams?.has(head))
    const param = scope?.blockParams?.get(head)
    if (param) return membersOf(param, rest)
  }
  const scope = names.scopes.at(-1 - depth)
  if (!scope) return undefined
  const passed = head === undefined ? undefined : scope.passed?.get(head)
  if (passed) return membersOf(passed, rest)
  if (scope.context)
    return head === undefined && scope.passed?.size ? undefined : membersOf(scope.context, path.parts as string[])
  return ofRoot(path.parts as string[], names)
}

function ofRoot([head, ...rest]: readonly string[], names: Names): Value | undefined {
  if (head === undefined) return undefined
  const variable = variableName(head, names)
  if (rest.length > 0 && !names.types.has(variable)) names.types.set(variable, 'object')
  return membersOf({ code: variable, schema: propertyOf(names.input, head) }, rest)
}

function ofLoop([name = '', ...rest]: readonly string[], depth: number, names: Names): Value | undefined {
  const loops = names.scopes.flatMap(({ loop }) => loop ?? [])
  const loop = loops.at(-1 - depth)
  const known = new Map([
    ['index', { code: `${loop?.index}`, schema: { type: 'number' } }],
    ['first', { code: `${loop?.index} === 0`, schema: { type: 'boolean' } }],
    ['last', { code: `${loop?.index} === ${loop?.list}.length - 1`, schema: { type: 'boolean' } }],
  ])
  if (name === 'key' || known.has(name)) return loop && rest.length === 0 ? known.get(name) : undefined
  // Other data, such as `@state`, comes from the caller: a parameter in stet.
  return ofRoot([`@${name}`, ...rest], names)
}

function membersOf(value: Value, path: readonly string[]): Value {
  return path.reduce<Value>(
    ({ code, schema }, key) => ({ code: member(code, key), schema: propertyOf(schema, key) }),
    value,
  )
}

function propertyOf(schema: Schema | undefined, key: string): Schema | undefined {
  const properties = isJsonObject(schema?.['properties']) ? schema['properties'] : {}
  const found = Object.hasOwn(properties, key) ? properties[key] : undefined
  return isJsonObject(found) ? found : undefined
}

export function itemOf(schema: Schema | undefined): Schema | undefined {
  return isJsonObject(schema?.['items']) ? schema['items'] : undefined
}

export function hasType({ schema }: Value, ...types: readonly string[]): boolean {
  const type = schema?.['type'] ?? (Array.isArray(schema?.['enum']) ? 'string' : undefined)
  return typeof type === 'string' && types.includes(type)
}

/** In Handlebars, an empty list counts as false. */
export function truthOf(value: Value): string {
  const { code } = value
  if (hasType(value, 'string', 'number', 'integer', 'boolean', 'object')) return code
  return `${code} && ${code}.length !== 0`
}

/** `{{^name}}` is for false, missing values and empty lists, but not for 0 or an empty text. */
export function absenceOf(value: Value): string {
  const { code } = value
  return hasType(value, 'boolean') ? `!${code}` : `${code} === false || ${code} == null || ${code}.length === 0`
}
