import type { ForBlock, Fragment, IfBlock, Tag, TemplateNode } from '../syntax/nodes.ts'
import type { Attributes } from './messages.ts'
import type { Scope } from './scope.ts'
import type { Value } from './values/values.ts'

/** The place in one list of nodes. A stack of frames is the whole position of an evaluation. */
export interface Frame {
  kind: 'list' | 'for' | 'message' | 'content' | 'step'
  /** The node that has the list. */
  node: TemplateNode
  isElse: boolean
  /** The index of the next node. */
  at: number
  scope: Scope
  /** Whether a content tag is around the nodes. */
  isInContent: boolean
  attributes?: Attributes
  /** The list that a loop walks, and the index of the current item. */
  items?: readonly Value[]
  index?: number
}

export function nodesOf({ node, isElse }: Pick<Frame, 'node' | 'isElse'>): readonly TemplateNode[] {
  if (isElse) return (node as IfBlock | ForBlock).else?.children ?? []
  return (node as Fragment | Tag | IfBlock | ForBlock).children
}
