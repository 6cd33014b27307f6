import type { ForBlock, IfBlock, TemplateNode } from './nodes.ts'

const END = /^\{\{\s*end(?:if|for)\s*\}\}$/

/**
 * Returns whether a block lacks its own end. The engine silently closes such a block at the enclosing tag.
 * @param text the text that the tree's offsets refer to
 */
export function isLeftOpen(block: IfBlock | ForBlock, text: string): boolean {
  if (block.type === 'IfBlock' && block.elseif) return false
  const end = text.lastIndexOf('{{', block.end - 1)
  // The last `{{` may belong to a nested block or to escaped text.
  return end < endOfContent(block) || !END.test(text.slice(end, block.end))
}

function endOfContent(block: IfBlock | ForBlock): number {
  const last = (block.else?.children ?? block.children).at(-1)
  if (!last) return block.start
  return isElseIf(last) ? endOfContent(last) : last.end
}

function isElseIf(node: TemplateNode): node is IfBlock {
  return node.type === 'IfBlock' && node.elseif === true
}
