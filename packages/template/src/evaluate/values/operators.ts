import { MAX_TEXT_CHARS, type Meter } from './fuel.ts'
import { isNothing, toNumber, toPrimitive, type Value } from './values.ts'

type Operator = (left: Value, right: Value, meter: Meter) => Value

/** The operators with two operands that are always evaluated. `&&`, `||` and `??` are no part of it. */
export const BINARY_OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['+', add],
  ['-', arithmetic((a, b) => a - b)],
  ['*', arithmetic((a, b) => a * b)],
  ['/', arithmetic((a, b) => a / b)],
  ['%', arithmetic((a, b) => a % b)],
  ['<<', arithmetic((a, b) => a << b)],
  ['>>', arithmetic((a, b) => a >> b)],
  ['>>>', arithmetic((a, b) => a >>> b)],
  ['|', arithmetic((a, b) => a | b)],
  ['^', arithmetic((a, b) => a ^ b)],
  ['&', arithmetic((a, b) => a & b)],
  ['===', isSame],
  ['!==', (left, right, meter) => !isSame(left, right, meter)],
  ['==', isEqual],
  ['!=', (left, right, meter) => !isEqual(left, right, meter)],
  ['<', order((a, b) => a < b)],
  ['<=', order((a, b) => a <= b)],
  ['>', order((a, b) => a > b)],
  ['>=', order((a, b) => a >= b)],
])

export function binary(operator: string, left: Value, right: Value, meter: Meter): Value {
  return BINARY_OPERATORS.get(operator)?.(left, right, meter)
}

/** Joins two texts. V8 copies the shorter one at most, because it links long texts. */
export function concatenated(left: string, right: string, meter: Meter): string {
  // Checks the length of the result.
  if (left.length + right.length > MAX_TEXT_CHARS) meter.spendText(left.length + right.length)
  else meter.spendText(Math.min(left.length, right.length))
  return left + right
}

/** As `===`. */
export function isSame(left: Value, right: Value, meter: Meter): boolean {
  if (typeof left === 'string' && typeof right === 'string' && left.length === right.length) {
    meter.spendText(left.length)
  }
  return left === right
}

function add(left: Value, right: Value, meter: Meter): Value {
  if (typeof left === 'number' && typeof right === 'number') return left + right
  const a = toPrimitive(left, meter)
  const b = toPrimitive(right, meter)
  if (typeof a === 'string' || typeof b === 'string') return concatenated(String(a), String(b), meter)
  return Number(a) + Number(b)
}

function arithmetic(calculate: (a: number, b: number) => number): Operator {
  return (left, right, meter) => calculate(toNumber(left, meter), toNumber(right, meter))
}

/** As `==`, of values whose conversion never calls prompt data. */
function isEqual(left: Value, right: Value, meter: Meter): boolean {
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right)
  if (typeof left === 'object' && typeof right === 'object') return left === right
  const a = toPrimitive(left, meter)
  const b = toPrimitive(right, meter)
  if (typeof a === typeof b) return isSame(a, b, meter)
  return toNumber(a, meter) === toNumber(b, meter)
}

function order(compare: (a: number | string, b: number | string) => boolean): Operator {
  return (left, right, meter) => {
    const a = toPrimitive(left, meter, 'number')
    const b = toPrimitive(right, meter, 'number')
    if (typeof a !== 'string' || typeof b !== 'string') return compare(toNumber(a, meter), toNumber(b, meter))
    // Joined texts are flattened.
    meter.spendText(a.length + b.length)
    return compare(a, b)
  }
}
