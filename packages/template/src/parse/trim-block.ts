import type { ForBlock, IfBlock, TemplateNode } from '../syntax/nodes.ts'

/**
 * Removes the white space at the ends of a block's branches. A prompt can then put the block's own marks on lines of
 * their own.
 * @param before whether white space or nothing precedes the block
 * @param after whether white space or nothing follows it
 */
export function trimBlock(block: IfBlock | ForBlock, before: boolean, after: boolean): void {
  const open: { children: TemplateNode[]; else?: { children: TemplateNode[] } | null }[] = [block]
  for (let branch = open.pop(); branch; branch = open.pop()) {
    const { children } = branch
    const head = children[0]
    if (!head) continue
    const tail = children.at(-1)
    if (before && head.type === 'Text') {
      head.data = head.data.replace(/^[ \t\r\n]+/, '')
      if (head.data === '') children.shift()
    }
    if (after && tail?.type === 'Text') {
      tail.data = withoutBlankEnd(tail.data)
      if (tail.data === '') children.pop()
    }
    if (branch.else) open.push(branch.else)
    if (head.type === 'IfBlock' && head.elseif) open.push(head)
  }
}

/** A regular expression that is anchored at the end takes quadratic time. */
function withoutBlankEnd(text: string): string {
  let end = text.length
  while (end > 0 && ' \t\r\n'.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}
