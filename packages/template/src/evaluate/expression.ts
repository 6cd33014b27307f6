import type { ArrayNode, Call, Expression, Member, ObjectNode, Property, Spread } from '../syntax/nodes.ts'
import { CLOCK } from '../syntax/variables.ts'
import { callMethod, hasMethod } from './methods/methods.ts'
import type { Scope } from './scope.ts'
import { EvaluationError, type Meter, type Range } from './values/fuel.ts'
import { binary } from './values/operators.ts'
import { keysOf } from './values/printed.ts'
import {
  isNothing,
  isObject,
  type ObjectValue,
  ownsMember,
  readMember,
  setOwn,
  toNumber,
  toText,
  type Value,
  writeMember,
} from './values/values.ts'

export interface Run {
  meter: Meter
  /** The value of `$now` in milliseconds. */
  now: number
}

/** The value of a chain that ended at `?.`. It never leaves the chain. */
const ENDED: Value = Object.freeze({ ended: true })
const CLOCK_UNITS = 5
/** An object with many keys is a table of hashes. */
const SPREAD_KEY_UNITS = 5

function fail(code: string, message: string, at: Range): never {
  throw new EvaluationError(code, message, at)
}

/** Evaluates an expression that the allow-list has accepted. @throws EvaluationError */
export function evaluate(node: Expression, scope: Scope, run: Run): Value {
  const { meter } = run
  meter.spend(1)
  switch (node.type) {
    case 'Literal':
      return node.value as Value
    case 'Identifier':
      return node.name === CLOCK ? clock(run) : scope.get(node.name, meter)
    case 'MemberExpression':
      return memberOf(node, scope, run)
    case 'CallExpression':
      return call(node, scope, run)
    case 'ChainExpression': {
      const value = evaluate(node.expression, scope, run)
      return value === ENDED ? undefined : value
    }
    case 'BinaryExpression': {
      const left = evaluate(node.left, scope, run)
      const right = evaluate(node.right, scope, run)
      meter.at = node
      return binary(node.operator, left, right, meter)
    }
    case 'LogicalExpression': {
      const left = evaluate(node.left, scope, run)
      const goesOn = node.operator === '??' ? isNothing(left) : node.operator === '&&' ? left : !left
      return goesOn ? evaluate(node.right, scope, run) : left
    }
    case 'ConditionalExpression':
      return evaluate(evaluate(node.test, scope, run) ? node.consequent : node.alternate, scope, run)
    case 'UnaryExpression':
      return unary(node.operator, evaluate(node.argument, scope, run), meter)
    case 'ArrayExpression':
      return listOf(node, scope, run)
    case 'ObjectExpression':
      return objectOf(node, scope, run)
    case 'SequenceExpression': {
      let last: Value
      for (const each of node.expressions) last = evaluate(each, scope, run)
      return last
    }
    case 'AssignmentExpression': {
      const value = evaluate(node.right, scope, run)
      assign(node.left, node.operator, value, scope, run)
      return undefined
    }
    case 'UpdateExpression':
      return update(node, scope, run)
  }
}

function clock({ meter, now }: Run): Value {
  meter.spend(CLOCK_UNITS)
  return new Date(now)
}

function memberOf(node: Member, scope: Scope, run: Run): Value {
  const owner = evaluate(node.object, scope, run)
  if (owner === ENDED || (node.optional && isNothing(owner))) return ENDED
  const key = keyOf(node, scope, run)
  run.meter.at = node
  return readMember(owner, key, run.meter)
}

function keyOf({ computed, property }: Member, scope: Scope, run: Run): Value {
  return computed ? evaluate(property, scope, run) : nameOf(property)
}

function nameOf(node: Expression): string {
  return node.type === 'Identifier' ? node.name : node.type === 'Literal' ? String(node.value) : ''
}

function call(node: Call, scope: Scope, run: Run): Value {
  const { meter } = run
  const callee = node.callee as Member
  const self = evaluate(callee.object, scope, run)
  if (self === ENDED || (callee.optional && isNothing(self))) return ENDED
  const name = nameOf(callee.property)
  meter.at = callee
  if (isNothing(self)) return readMember(self, name, meter)
  if (!hasMethod(self, name)) {
    const own = readMember(self, name, meter)
    return node.optional && isNothing(own) ? ENDED : fail('not-a-function', `'${typeof own}' is not a function`, node)
  }
  const args: Value[] = []
  for (const argument of node.arguments) args.push(evaluate(argument as Expression, scope, run))
  meter.at = node
  try {
    return callMethod(self, name, args, meter)
  } catch (error) {
    if (error instanceof EvaluationError || !(error instanceof Error)) throw error
    return fail('function-call-error', `Error calling function: \n${error.name} ${error.message}`, node)
  }
}

function unary(operator: string, value: Value, meter: Meter): Value {
  switch (operator) {
    case '!':
      return !value
    case '-':
      return -toNumber(value, meter)
    case '+':
      return toNumber(value, meter)
    case '~':
      return ~toNumber(value, meter)
    case 'typeof':
      return typeof value
    default:
      return undefined
  }
}

function listOf({ elements }: ArrayNode, scope: Scope, run: Run): Value[] {
  const list: Value[] = []
  for (const element of elements) {
    if (element?.type === 'SpreadElement') spreadItems(element, list, scope, run)
    else if (element) list.push(evaluate(element, scope, run))
  }
  return list
}

function spreadItems(node: Spread, list: Value[], scope: Scope, run: Run): void {
  const value = evaluate(node.argument, scope, run)
  if (!Array.isArray(value) && typeof value !== 'string') {
    fail('invalid-spread-in-array', `Element '${typeof value}' is not iterable`, node)
  }
  run.meter.spend(value.length)
  for (const item of value) list.push(item)
}

function objectOf({ properties }: ObjectNode, scope: Scope, run: Run): ObjectValue {
  const object: ObjectValue = {}
  for (const property of properties) {
    if (property.type === 'SpreadElement') spreadKeys(property, object, scope, run)
    else setProperty(property, object, scope, run)
  }
  return object
}

function setProperty({ key, value }: Property, object: ObjectValue, scope: Scope, run: Run): void {
  run.meter.spend(2)
  setOwn(object, nameOf(key), evaluate(value, scope, run))
}

function spreadKeys(node: Spread, object: ObjectValue, scope: Scope, run: Run): void {
  const value = evaluate(node.argument, scope, run)
  if (typeof value !== 'object') {
    fail('invalid-spread-in-object', `Property '${typeof value}' is not valid for spreading`, node)
  }
  if (value === null) fail('variable-not-defined', 'Cannot convert undefined or null to object', node)
  for (const key of keysOf(value, SPREAD_KEY_UNITS, run.meter)) setOwn(object, key, (value as ObjectValue)[key])
}

function update(node: Extract<Expression, { type: 'UpdateExpression' }>, scope: Scope, run: Run): Value {
  const before = evaluate(node.argument, scope, run)
  if (typeof before !== 'number') {
    fail('invalid-update', `Cannot use ${node.operator} operation on ${typeof before}`, node)
  }
  const after = node.operator === '++' ? before + 1 : before - 1
  assign(node.argument, '=', after, scope, run)
  return node.prefix ? after : before
}

function assign(target: Expression, operator: string, value: Value, scope: Scope, run: Run): void {
  if (target.type === 'Identifier') assignVariable(target, operator, value, scope, run)
  else assignMember(target as Member, operator, value, scope, run)
}

function assignVariable(
  target: Extract<Expression, { type: 'Identifier' }>,
  operator: string,
  value: Value,
  scope: Scope,
  { meter }: Run,
): void {
  const { name } = target
  if (operator === '=') {
    scope.set(name, value, meter)
    return
  }
  if (!scope.find(name, meter)) fail('variable-not-declared', `Variable '${name}' is not declared`, target)
  meter.at = target
  scope.set(name, binary(operator.slice(0, -1), scope.get(name, meter), value, meter), meter)
}

function assignMember(target: Member, operator: string, value: Value, scope: Scope, run: Run): void {
  const { meter } = run
  const owner = evaluate(target.object, scope, run)
  const name = toText(keyOf(target, scope, run), meter)
  meter.at = target
  const current = operator === '=' && !isNothing(owner) ? undefined : readMember(owner, name, meter)
  if (operator === '=') {
    writeMember(owner, name, value)
    return
  }
  if ((isObject(owner) || Array.isArray(owner)) && !ownsMember(owner, name, meter)) {
    fail('property-not-exists', `Property '${name}' does not exist on object`, target)
  }
  writeMember(owner, name, binary(operator.slice(0, -1), current, value, meter))
}
