import { lineAndColumn } from '../compile-error.ts'
import type { ParsedText } from '../parse/parse-text.ts'
import type {
  Call,
  Conditional,
  Expression,
  ForBlock,
  Literal,
  Member,
  Operation,
  OptionalChain,
} from '../syntax/nodes.ts'
import { type Attribute, type Spread, walkNodes } from '../syntax/nodes.ts'
import { CLOCK } from '../syntax/variables.ts'

/**
 * `now` is the value of `$now`. During evaluation, `at` is set to the last expression or member that the engine
 * reached.
 */
export interface Trace {
  now: Date
  at: { start: number; end: number } | undefined
}

interface Repair {
  trace: Trace
  usesClock: boolean
  /** Counts the helper variables that prevent a second evaluation of a value. */
  held: number
}

/** A property with one of these names may hold a function. */
const BUILT_IN_METHODS = new Set(builtInPrototypes().flatMap(methodNames))

function builtInPrototypes(): object[] {
  const kinds = [Object, Function, Array, String, Number, Boolean, Date]
  const iterator: object = Object.getPrototypeOf([].values())
  return [...kinds.map((kind): object => kind.prototype), iterator, Object.getPrototypeOf(iterator)]
}

function methodNames(prototype: object): string[] {
  const properties = Object.entries(Object.getOwnPropertyDescriptors(prototype))
  // A getter may return a function too.
  return properties.filter(([, { value, get }]) => typeof value === 'function' || get).map(([name]) => name)
}

/** The prefix of helper variables. A prompt cannot contain such a name. */
const HELD = '#'

/**
 * Rewrites the expressions of a checked tree so that the engine follows JavaScript. Fixes quoted keys, short circuits,
 * optional chains, sequences, iterators and `$now`. During evaluation, `trace` records the current expression.
 */
export function repairTree({ fragment, text }: Pick<ParsedText, 'fragment' | 'text'>, trace: Trace): void {
  const repair: Repair = { trace, usesClock: false, held: 0 }
  const roots: (() => void)[] = []
  for (const node of walkNodes(fragment)) {
    if (node.type === 'Fragment') node.children = node.children.filter((child) => child.type !== 'Config')
    if (node.type === 'ElementTag') repairAttributes(node.attributes, repair)
    if (node.type === 'ForBlock') locateNames(node, text)
    if (node.type === 'IfBlock' || node.type === 'ForBlock') node.expression = repairRoot(node.expression, repair)
    if (node.type === 'MustacheTag') {
      const written = node.expression
      node.expression = repairRoot(written, repair)
      if (!isSilent(written))
        roots.push(() => {
          node.expression = asPrinted(written, node.expression, repair)
        })
    }
  }
  if (repair.usesClock) for (const printDates of roots) printDates()
}

/**
 * The engine reads a `loc` that its parser never sets. A getter computes the location on demand. Computing all
 * locations in advance would take quadratic time in a long prompt.
 */
function locateNames({ context, index }: ForBlock, text: string): void {
  for (const name of index ? [context, index] : [context]) {
    const { start, end } = name
    Object.defineProperty(name, 'loc', {
      enumerable: true,
      get: () => ({ start: locationOf(text, start), end: locationOf(text, end) }),
    })
  }
}

/** Lines start at 1, columns at 0. */
function locationOf(text: string, offset: number): { line: number; column: number } {
  const { line, column } = lineAndColumn(text, offset)
  return { line, column: column - 1 }
}

function repairAttributes(attributes: readonly Attribute[], repair: Repair): void {
  for (const { value } of attributes) {
    if (value === true) continue
    for (const part of value) if (part.type === 'MustacheTag') part.expression = repairRoot(part.expression, repair)
  }
}

function isSilent(node: Expression): boolean {
  return node.type === 'AssignmentExpression' || node.type === 'Literal'
}

function repairRoot(node: Expression, repair: Repair): Expression {
  const root = repaired(node, repair)
  const { type } = root
  const range = { start: node.start, end: node.end }
  return Object.defineProperty(root, 'type', {
    enumerable: true,
    get: () => {
      repair.trace.at = range
      return type
    },
  })
}

function repaired(node: Expression, repair: Repair): Expression {
  const fix = (child: Expression): Expression => repaired(child, repair)
  switch (node.type) {
    case 'Identifier':
      return node.name === CLOCK ? clock(node, repair) : node
    case 'ArrayExpression':
      return { ...node, elements: node.elements.map((element) => element && repairedItem(element, repair)) }
    case 'ObjectExpression': {
      const properties = node.properties.map((property) => {
        if (property.type === 'SpreadElement') return { ...property, argument: fix(property.argument) }
        const key = property.key.type === 'Literal' ? named(String(property.key.value), property.key) : property.key
        return { ...property, key, value: fix(property.value) }
      })
      return { ...node, properties }
    }
    case 'BinaryExpression':
      return { ...node, left: fix(node.left), right: fix(node.right) }
    case 'LogicalExpression':
      return shortCircuit(node, repair)
    case 'UnaryExpression':
      return { ...node, argument: fix(node.argument) }
    case 'UpdateExpression':
      return { ...node, argument: target(node.argument, repair) }
    case 'AssignmentExpression':
      return { ...node, left: target(node.left, repair), right: fix(node.right) }
    case 'ChainExpression':
      return optionalChain(node, repair)
    case 'MemberExpression':
      return plainValue(node, member(node, fix(node.object), repair), repair)
    case 'CallExpression':
      return call(node, target(node.callee, repair), repair)
    case 'ConditionalExpression':
      return { ...node, test: fix(node.test), consequent: fix(node.consequent), alternate: fix(node.alternate) }
    case 'SequenceExpression':
      return sequence(node, node.expressions.map(fix))
    default:
      return node
  }
}

function repairedItem(item: Expression | Spread, repair: Repair): Expression | Spread {
  return item.type === 'SpreadElement' ? { ...item, argument: repaired(item.argument, repair) } : repaired(item, repair)
}

function named(name: string, at: Expression): Expression {
  return { ...place(at), type: 'Identifier', name }
}

function literal(value: unknown, at: Expression): Literal {
  return { ...place(at), type: 'Literal', value }
}

function place(at: Expression): { start: number; end: number; loc?: NonNullable<Expression['loc']> } {
  return { start: at.start, end: at.end, ...(at.loc ? { loc: at.loc } : {}) }
}

/** Yields a new Date for each evaluation, so that evaluations never share a mutable object. */
function clock(at: Expression, repair: Repair): Expression {
  repair.usesClock = true
  return Object.defineProperty(literal(undefined, at), 'value', { get: () => new Date(repair.trace.now) })
}

/** Keeps a called or assigned member as a member. `repaired` would turn it into a read. */
function target(node: Expression, repair: Repair): Expression {
  return node.type === 'MemberExpression' ? member(node, repaired(node.object, repair), repair) : repaired(node, repair)
}

/**
 * Evaluates the values in order and yields the last one. The engine would evaluate all of them concurrently and yield a
 * list.
 */
function sequence(at: Expression, values: readonly Expression[]): Expression {
  return values.reduceRight((rest, value) => choose(at, value, rest, rest))
}

/**
 * Yields undefined if the member is a function. A function as a value could be stored or passed to `replace`, and then
 * called despite the method allow-list.
 */
function plainValue(node: Member, read: Member, repair: Repair): Expression {
  const name = node.computed ? literalName(node.property) : node.property.type === 'Identifier' && node.property.name
  if (typeof name === 'string' && !BUILT_IN_METHODS.has(name)) return read
  const { first, again } = hold(read, repair)
  const kind: Expression = {
    ...place(node),
    type: 'UnaryExpression',
    operator: 'typeof',
    prefix: true,
    argument: first,
  }
  const isFunction: Operation = {
    ...place(node),
    type: 'BinaryExpression',
    operator: '===',
    left: kind,
    right: literal('function', node),
  }
  return choose(node, isFunction, literal(undefined, node), again)
}

function literalName(node: Expression): string | undefined {
  return node.type === 'Literal' ? String(node.value) : undefined
}

/**
 * Records the member in `trace`. The engine reads `computed` after it evaluates the object and before the access, which
 * may fail.
 */
function member(node: Member, object: Expression, repair: Repair): Member {
  const property = node.computed ? repaired(node.property, repair) : node.property
  const { computed } = node
  const traced = { ...node, object, property, optional: false }
  return Object.defineProperty(traced, 'computed', {
    enumerable: true,
    get: () => {
      repair.trace.at = node
      return computed
    },
  })
}

/**
 * The results of these methods become lists. The engine drops an iterator's first item in a loop and cannot print
 * iterators.
 */
const ITERATING = new Set(['keys', 'values', 'entries'])

function call(node: Call, callee: Expression, repair: Repair): Expression {
  const items = node.arguments.map((item) => repairedItem(item, repair))
  const made: Call = { ...node, callee, arguments: items, optional: false }
  const method = callee.type === 'MemberExpression' && callee.property.type === 'Identifier' && callee.property.name
  if (!method || !ITERATING.has(method)) return made
  return {
    ...place(node),
    type: 'ArrayExpression',
    elements: [{ ...place(node), type: 'SpreadElement', argument: made }],
  }
}

function isPlain(node: Expression): boolean {
  return node.type === 'Identifier' || node.type === 'Literal'
}

/**
 * Lets a value be used twice but evaluated once. The engine evaluates both sides of `||`, and an assignment yields
 * undefined there. `(held = value) || held` therefore yields the value.
 */
function hold(value: Expression, repair: Repair): { first: Expression; again: Expression } {
  if (isPlain(value)) return { first: value, again: value }
  repair.held += 1
  const again = named(`${HELD}${repair.held}`, value)
  const keep: Expression = { ...place(value), type: 'AssignmentExpression', operator: '=', left: again, right: value }
  return { first: { ...place(value), type: 'LogicalExpression', operator: '||', left: keep, right: again }, again }
}

function isNothing(value: Expression): Operation {
  return { ...place(value), type: 'BinaryExpression', operator: '==', left: value, right: literal(null, value) }
}

function choose(at: Expression, test: Expression, consequent: Expression, alternate: Expression): Conditional {
  return { ...place(at), type: 'ConditionalExpression', test, consequent, alternate }
}

function shortCircuit(node: Operation, repair: Repair): Expression {
  const { first, again } = hold(repaired(node.left, repair), repair)
  const right = repaired(node.right, repair)
  if (node.operator === '&&') return choose(node, first, right, again)
  if (node.operator === '||') return choose(node, first, again, right)
  return choose(node, isNothing(first), right, again)
}

function optionalChain(node: OptionalChain, repair: Repair): Expression {
  const links: (Member | Call)[] = []
  let base = node.expression
  while (base.type === 'MemberExpression' || base.type === 'CallExpression') {
    links.unshift(base)
    base = base.type === 'MemberExpression' ? base.object : base.callee
  }
  const follow = (index: number, value: Expression): Expression => {
    const link = links[index]
    if (!link) return value
    const apply = (on: Expression): Expression => follow(index + 1, linked(link, on, links[index + 1], repair))
    if (!link.optional) return apply(value)
    const { first, again } = hold(value, repair)
    return choose(node, isNothing(first), literal(undefined, node), apply(again))
  }
  return follow(0, repaired(base, repair))
}

function linked(link: Member | Call, on: Expression, next: Member | Call | undefined, repair: Repair): Expression {
  if (link.type === 'CallExpression') return call(link, on, repair)
  const read = member(link, on, repair)
  return next?.type === 'CallExpression' ? read : plainValue(link, read, repair)
}

/** Prints dates with `toISOString`. The engine would print them as JSON, with quotes. */
function asPrinted(written: Expression, value: Expression, repair: Repair): Expression {
  const { first, again } = hold(value, repair)
  const method: Member = {
    ...place(written),
    type: 'MemberExpression',
    object: again,
    property: named('toISOString', written),
    computed: false,
    optional: false,
  }
  const printed: Call = { ...place(written), type: 'CallExpression', callee: method, arguments: [], optional: false }
  return choose(written, isNothing(first), again, choose(written, method, printed, again))
}
