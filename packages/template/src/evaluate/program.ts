import {
  type Expression,
  expressionsOf,
  type Fragment,
  type Spread,
  type TemplateNode,
  walkNodes,
} from '../syntax/nodes.ts'
import { operandsOf } from '../syntax/variables.ts'

/** A checked tree with the facts that an evaluation needs. */
export interface Program {
  fragment: Fragment
  /** The nodes by number, and their numbers, so that the state of a chain can name them. */
  nodes: readonly TemplateNode[]
  numbers: ReadonlyMap<TemplateNode, number>
  /** Whether the prompt may change a list or an object. If not, parameters need no copy. */
  changesValues: boolean
}

const CHANGING_METHODS = new Set(['push', 'pop', 'shift', 'unshift', 'reverse'])

export function programOf(fragment: Fragment): Program {
  const nodes = [...walkNodes(fragment)]
  return {
    fragment,
    nodes,
    numbers: new Map(nodes.map((node, number) => [node, number])),
    changesValues: nodes.some((node) => expressionsOf(node).some(changesValue)),
  }
}

function changesValue(node: Expression | Spread | null): boolean {
  if (node === null) return false
  if (node.type === 'AssignmentExpression') {
    return node.left.type === 'MemberExpression' || changesValue(node.right)
  }
  if (node.type === 'UpdateExpression') return node.argument.type === 'MemberExpression'
  if (node.type === 'CallExpression' && node.callee.type === 'MemberExpression') {
    const { property } = node.callee
    if (property.type === 'Identifier' && CHANGING_METHODS.has(property.name)) return true
  }
  return operandsOf(node).some(changesValue)
}
