import type { Expression, Spread } from './nodes.ts'
import type { Report } from './policy.ts'

export const CLOCK = '$now'

export interface Names {
  /** The declared names of this block and the blocks around it. */
  known: Set<string>
  /** The names that this block has added. */
  own: string[]
  /**
   * The names that are used without an earlier declaration, in order of appearance. All blocks of a prompt or of a
   * `<scope>` tag share this set.
   */
  free: Set<string>
}

export function emptyNames(known: Iterable<string> = []): Names {
  return { known: new Set(known), own: [], free: new Set() }
}

/** Visits a nested block. Its declarations are not visible outside it. */
export function visitBlock(around: Names, visit: (names: Names) => void, declared: readonly string[] = []): void {
  const names = { ...around, own: [] as string[] }
  for (const name of declared) declareName(names, name)
  visit(names)
  for (const name of names.own) names.known.delete(name)
}

export function declareName({ known, own }: Names, name: string): void {
  if (known.has(name)) return
  known.add(name)
  own.push(name)
}

export function noteNames(node: Expression | Spread | null, names: Names, report: Report): void {
  if (node === null) return
  if (node.type === 'Identifier') {
    if (node.name !== CLOCK && node.name !== 'undefined' && !names.known.has(node.name)) names.free.add(node.name)
  } else if (node.type === 'AssignmentExpression') {
    noteNames(node.right, names, report)
    noteTarget(node.left, node.operator, names, report)
  } else {
    for (const child of operandsOf(node)) noteNames(child, names, report)
  }
}

export function operandsOf(node: Expression | Spread): readonly (Expression | Spread | null)[] {
  switch (node.type) {
    case 'ArrayExpression':
      return node.elements
    case 'ObjectExpression':
      return node.properties.map((property) => (property.type === 'SpreadElement' ? property : property.value))
    case 'SpreadElement':
    case 'UnaryExpression':
    case 'UpdateExpression':
      return [node.argument]
    case 'BinaryExpression':
    case 'LogicalExpression':
      return [node.left, node.right]
    case 'MemberExpression':
      return node.computed ? [node.object, node.property] : [node.object]
    case 'CallExpression':
      return [node.callee, ...node.arguments]
    case 'ChainExpression':
      return [node.expression]
    case 'ConditionalExpression':
      return [node.test, node.consequent, node.alternate]
    case 'SequenceExpression':
      return node.expressions
    default:
      return []
  }
}

function noteTarget(target: Expression, operator: string, names: Names, report: Report): void {
  if (target.type !== 'Identifier') {
    noteNames(target, names, report)
    return
  }
  if (target.name === CLOCK) {
    report({
      code: 'assignment-to-builtin',
      message: `Cannot assign to ${CLOCK}`,
      start: target.start,
      end: target.end,
    })
    return
  }
  if (operator !== '=') noteNames(target, names, report)
  declareName(names, target.name)
}
