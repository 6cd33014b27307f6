import { FaultError } from '../compile-error.ts'
import type { ForBlock, Fragment, IfBlock, Tag, TemplateNode } from '../syntax/nodes.ts'
import type { Cursor } from './cursor.ts'

/** Rendering and analysis are recursive, so the depth of tags and blocks needs a limit. */
const MAX_TAG_DEPTH = 200

export type Block = IfBlock | ForBlock

/** A node whose end was not read yet. An `else` is open together with its block. */
export interface OpenNode {
  node: Fragment | Tag | Block
  children: TemplateNode[]
  isElse: boolean
  /** The offset behind the opening mark. */
  contentStart: number
}

export class OpenNodes {
  private readonly stack: OpenNode[]

  constructor(fragment: Fragment) {
    this.stack = [{ node: fragment, children: fragment.children, isElse: false, contentStart: 0 }]
  }

  get top(): OpenNode {
    return this.stack.at(-1) as OpenNode
  }

  has(...types: TemplateNode['type'][]): boolean {
    return this.stack.some(({ node }) => types.includes(node.type))
  }

  /** Adds a node to the innermost open one. */
  add(node: TemplateNode): void {
    if (this.stack.length - 1 > MAX_TAG_DEPTH) {
      const message = 'Tags and blocks are nested too deeply'
      throw new FaultError({ code: 'limit-exceeded', message, start: node.start })
    }
    this.top.children.push(node)
  }

  /** Opens a node that `add` or an `else` has put into the tree. */
  open(node: OpenNode['node'], children: TemplateNode[], contentStart: number, isElse = false): void {
    this.stack.push({ node, children, isElse, contentStart })
  }

  close(end: number): OpenNode {
    const closed = this.stack.pop() as OpenNode
    if (!closed.isElse) closed.node.end = end
    return closed
  }

  /** Closes the innermost tag of this name, and the tags inside it that have no end of their own. */
  closeTag(name: string, start: number, cursor: Cursor): void {
    const at = this.stack.findLastIndex(({ node }) => node.type === 'ElementTag' && node.name === name)
    if (at === -1) cursor.fail('unexpected-tag-close', `Unexpected closing tag for ${name}`, start)
    const leftOpen = this.stack.slice(at + 1).find(({ node }) => isOuterBlock(node))
    if (leftOpen) throw new FaultError(leftOpenFault(leftOpen))
    while (this.stack.length > at + 1) this.close(start)
    this.close(cursor.index)
  }

  /** @throws FaultError if a node is open at the end of the text */
  finish(): void {
    if (this.stack.length === 1) return
    const { node } = this.top
    throw new FaultError({ code: 'unclosed-block', message: 'Block was left open', start: node.start })
  }
}

function isOuterBlock(node: OpenNode['node']): boolean {
  return node.type === 'ForBlock' || (node.type === 'IfBlock' && !node.elseif)
}

function leftOpenFault({ node, contentStart }: OpenNode) {
  const end = node.type === 'IfBlock' ? 'endif' : 'endfor'
  const message = `Block was left open: {{ ${end} }} is missing before the tag around it ends`
  return { code: 'unclosed-block', message, start: node.start, end: contentStart }
}
