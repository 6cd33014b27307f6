import type { ForBlock, IfBlock, TemplateNode } from './nodes.ts'

const END = /^\{\{\s*end(?:if|for)\s*\}\}$/

/**
 * Whether a block ended only because the tag around it did: the engine closes it there without a word.
 *
 * @param text what the offsets of the tree count in
 */
export function isLeftOpen(block: IfBlock | ForBlock, text: string): boolean {
  if (block.type === 'IfBlock' && block.elseif) return false
  const end = text.lastIndexOf('{{', block.end - 1)
  // What ends the text of the block may belong to a block within it, or be text after a backslash.
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
