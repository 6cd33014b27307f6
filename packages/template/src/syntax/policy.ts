import type { Fault } from '../compile-error.ts'
import type { Call, Expression, Member, ObjectNode, Property, Spread } from './nodes.ts'

export type Report = (fault: Fault) => void

/** Evaluation is recursive, so the depth needs a limit. Real prompts nest only a few levels deep. */
const MAX_EXPRESSION_DEPTH = 200

/** The tables up to `ASSIGNMENT` are also printed in docs/language.md. */
const DATE_PARTS = 'FullYear Month Date Day Hours Minutes Seconds Milliseconds'.split(' ')
export const DATE_GETTERS = [
  ...['getTime', 'getYear', 'getTimezoneOffset'],
  ...DATE_PARTS.flatMap((part) => [`get${part}`, `getUTC${part}`]),
]

/** The methods that a prompt may call, on values of any kind. */
export const METHODS: ReadonlySet<string> = new Set([
  ...(
    'trim trimStart trimEnd toUpperCase toLowerCase toLocaleUpperCase toLocaleLowerCase includes startsWith endsWith ' +
    'indexOf lastIndexOf slice substring substr split replace replaceAll concat charAt at join reverse flat keys ' +
    'values entries push pop shift unshift toString toFixed toPrecision toLocaleString toISOString toJSON hasOwnProperty'
  ).split(' '),
  ...DATE_GETTERS,
])
export const REFUSED_MEMBERS = new Set('constructor prototype caller callee arguments apply call bind'.split(' '))

const HIDING_NAMES = new Set(
  'constructor toString valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString'.split(' '),
)

export const BINARY = new Set('== != === !== < <= > >= << >> >>> + - * / % | ^ &'.split(' '))
export const LOGICAL = new Set(['&&', '||', '??'])
export const UNARY = new Set(['!', '-', '+', '~', 'typeof', 'void'])
export const ASSIGNMENT = new Set('= += -= *= /= %= <<= >>= >>>= |= ^= &='.split(' '))

const KIND_NAMES: Record<string, string> = {
  ArrowFunctionExpression: 'Arrow functions are',
  FunctionExpression: 'Functions are',
  ClassExpression: 'Classes are',
  TemplateLiteral: 'Template literals are',
  TaggedTemplateExpression: 'Template literals are',
  NewExpression: '`new` is',
  ThisExpression: '`this` is',
  ImportExpression: '`import` is',
  MetaProperty: '`import.meta` is',
  AwaitExpression: '`await` is',
  YieldExpression: '`yield` is',
}

function hidesBuiltIn(name: string): boolean {
  return HIDING_NAMES.has(name) || isDunder(name)
}

function isDunder(name: string): boolean {
  return name.startsWith('__') && name.length > 2
}

/** Reports a name that hides a built-in, and suggests another name. Returns true if the name is allowed. */
export function checkName(name: string, at: { start: number; end: number }, report: Report): boolean {
  if (!hidesBuiltIn(name)) return true
  const proposal = `${name.replace(/^_+|(?<!_)_+$/g, '') || 'my'}Value`
  return refuse(report, at, `The name '${name}' hides a built-in: use another, such as '${proposal}'`)
}

/**
 * Checks an expression against the allow-list and reports disallowed constructs. Returns true if nothing was reported.
 */
export function checkExpression(node: Expression, report: Report, depth = 0): boolean {
  if (depth > MAX_EXPRESSION_DEPTH) {
    report({ code: 'limit-exceeded', message: 'The expression is nested too deeply', start: node.start, end: node.end })
    return false
  }
  const check = (child: Expression | Spread | null): boolean => {
    if (child === null) return true
    return checkExpression(child.type === 'SpreadElement' ? child.argument : child, report, depth + 1)
  }
  switch (node.type) {
    case 'Identifier':
      return checkName(node.name, node, report)
    case 'Literal':
      if (node.regex !== undefined)
        return refuse(report, node, 'Regular expressions are not part of the prompt language')
      if (node.bigint !== undefined) return refuse(report, node, 'Big integers are not part of the prompt language')
      return true
    case 'ArrayExpression':
      return all(node.elements, check)
    case 'ObjectExpression':
      return checkObject(node, report, check)
    case 'BinaryExpression':
      return allowed(BINARY, node, report) && all([node.left, node.right], check)
    case 'LogicalExpression':
      return allowed(LOGICAL, node, report) && all([node.left, node.right], check)
    case 'UnaryExpression':
      return allowed(UNARY, node, report) && check(node.argument)
    case 'AssignmentExpression':
      return allowed(ASSIGNMENT, node, report) && checkTarget(node.left, report) && all([node.left, node.right], check)
    case 'UpdateExpression':
      return checkTarget(node.argument, report) && check(node.argument)
    case 'MemberExpression':
      return checkMember(node, report, check)
    case 'CallExpression':
      return checkCall(node, report, check)
    case 'ChainExpression':
      return check(node.expression)
    case 'ConditionalExpression':
      return all([node.test, node.consequent, node.alternate], check)
    case 'SequenceExpression':
      return all(node.expressions, check)
    default:
      return refuseKind(node, report)
  }
}

/** Checks every item, even after a failure, so that the issues of all items are reported. */
function all<T>(items: readonly T[], check: (item: T) => boolean): boolean {
  return items.map(check).every(Boolean)
}

function refuse(report: Report, at: { start: number; end: number }, message: string): false {
  report({ code: 'not-allowed', message, start: at.start, end: at.end })
  return false
}

function refuseKind(node: { type: string; start: number; end: number }, report: Report): false {
  const what = KIND_NAMES[node.type] ?? `\`${node.type}\` is`
  return refuse(report, node, `${what} not part of the prompt language`)
}

function allowed(set: ReadonlySet<string>, node: { operator: string; start: number; end: number }, report: Report) {
  return (
    set.has(node.operator) ||
    refuse(report, node, `The operator \`${node.operator}\` is not part of the prompt language`)
  )
}

function checkObject(node: ObjectNode, report: Report, check: (child: Expression | Spread) => boolean): boolean {
  return all(node.properties, (property) =>
    property.type === 'SpreadElement' ? check(property) : checkProperty(property, report) && check(property.value),
  )
}

function checkProperty(property: Property, report: Report): boolean {
  if (property.computed) return refuse(report, property.key, 'Computed keys are not part of the prompt language')
  if (property.kind !== 'init' || property.method)
    return refuse(report, property, 'Functions are not part of the prompt language')
  const key = property.key.type === 'Identifier' ? property.key.name : literalKey(property.key)
  if (isDunder(key)) return refuse(report, property.key, `The key '${key}' is not allowed`)
  return true
}

function literalKey(key: Expression): string {
  return key.type === 'Literal' ? String(key.value) : ''
}

function checkMember(node: Member, report: Report, check: (child: Expression) => boolean): boolean {
  const name = memberName(node)
  const named = name === undefined || memberAllowed(name, node.property, report)
  return all([node.object, ...(node.computed ? [node.property] : [])], check) && named
}

function memberAllowed(name: string, at: Expression, report: Report): boolean {
  if (!REFUSED_MEMBERS.has(name) && !isDunder(name)) return true
  return refuse(report, at, `The member '${name}' is not part of the prompt language`)
}

function memberName(node: Member): string | undefined {
  if (!node.computed) return node.property.type === 'Identifier' ? node.property.name : '__private__'
  return node.property.type === 'Literal' ? String(node.property.value) : undefined
}

function checkTarget(target: Expression, report: Report): boolean {
  if (target.type === 'Identifier') return true
  if (target.type === 'MemberExpression' && !target.computed) return true
  return refuse(report, target, 'Only variables and members after a dot can be assigned')
}

function checkCall(node: Call, report: Report, check: (child: Expression | Spread) => boolean): boolean {
  const callee = node.callee
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') {
    return refuse(report, callee, 'Only the methods of the prompt language can be called, by name after a dot')
  }
  const method = callee.property.name
  const spread = node.arguments.find((argument) => argument.type === 'SpreadElement')
  if (spread) return refuse(report, spread, 'Arguments cannot be spread')
  const clean = all([callee.object, ...node.arguments], check)
  if (METHODS.has(method)) return clean
  return refuse(report, callee.property, `The method '${method}' is not part of the prompt language`)
}
