/** Reads `{{ … }}`: an expression to print, or a mark of a block. */
import type { Expression, ForBlock, IfBlock } from '../syntax/nodes.ts'
import type { Cursor } from './cursor.ts'
import { eatKeyword, readExpression, readName } from './expressions.ts'
import type { Block, OpenNode, OpenNodes } from './open-nodes.ts'
import { trimBlock } from './trim-block.ts'

export function readMustache(cursor: Cursor, open: OpenNodes): void {
  if (cursor.at('}}')) {
    cursor.fail('unexpected-mustache-close-tag', 'Unexpected closing tag without matching opening tag')
  }
  const start = cursor.index
  cursor.index += 2
  cursor.skipBlanks()
  if (eatKeyword(cursor, 'endif')) endBlock(cursor, open, start, 'IfBlock')
  else if (eatKeyword(cursor, 'endfor')) endBlock(cursor, open, start, 'ForBlock')
  else if (eatKeyword(cursor, 'elseif')) cursor.fail('invalid-elseif', "'elseif' should be 'else if'")
  else if (eatKeyword(cursor, 'else')) readElse(cursor, open, start)
  else if (eatKeyword(cursor, 'if')) beginIf(cursor, open, start)
  else if (eatKeyword(cursor, 'for')) beginFor(cursor, open, start)
  else {
    const expression = readExpression(cursor)
    needEnd(cursor)
    open.add({ type: 'MustacheTag', start, end: cursor.index, expression })
  }
}

function needEnd(cursor: Cursor): void {
  cursor.skipBlanks()
  cursor.need('}}')
}

function readCondition(cursor: Cursor): Expression {
  cursor.needBlank()
  const expression = readExpression(cursor)
  needEnd(cursor)
  return expression
}

function beginIf(cursor: Cursor, open: OpenNodes, start: number): void {
  const block: IfBlock = { type: 'IfBlock', start, end: start, expression: readCondition(cursor), children: [] }
  open.add(block)
  open.open(block, block.children, cursor.index)
}

function beginFor(cursor: Cursor, open: OpenNodes, start: number): void {
  cursor.needBlank()
  const context = readVariable(cursor) ?? cursor.fail('not-allowed', 'A loop names its item, it cannot take it apart')
  cursor.skipBlanks()
  let index: ForBlock['index']
  if (cursor.eat(',')) {
    cursor.skipBlanks()
    index = readVariable(cursor) ?? cursor.fail('expected-name', 'Expected name')
    cursor.skipBlanks()
  }
  cursor.need('in')
  const block: ForBlock = {
    type: 'ForBlock',
    start,
    end: start,
    context,
    ...(index && { index }),
    expression: readCondition(cursor),
    children: [],
  }
  open.add(block)
  open.open(block, block.children, cursor.index)
}

function readVariable(cursor: Cursor): ForBlock['context'] | undefined {
  const start = cursor.index
  const name = readName(cursor)
  return name === undefined ? undefined : { type: 'Identifier', name, start, end: cursor.index }
}

function readElse(cursor: Cursor, open: OpenNodes, start: number): void {
  const { top } = open
  cursor.skipBlanks()
  if (!eatKeyword(cursor, 'if')) {
    const block = blockAt(cursor, open, top, 'else', ['IfBlock', 'ForBlock'])
    needEnd(cursor)
    block.else = { children: [] }
    open.open(block, block.else.children, cursor.index, true)
    return
  }
  const block = blockAt(cursor, open, top, 'else if', ['IfBlock'])
  const inner: IfBlock = {
    type: 'IfBlock',
    elseif: true,
    start,
    end: start,
    expression: readCondition(cursor),
    children: [],
  }
  block.else = { children: [inner] }
  open.open(inner, inner.children, cursor.index)
}

/** Returns the block that an `else` continues. */
function blockAt(cursor: Cursor, open: OpenNodes, top: OpenNode, mark: string, types: Block['type'][]): Block {
  const { node, isElse } = top
  if (!isElse && (node.type === 'IfBlock' || node.type === 'ForBlock') && types.includes(node.type)) return node
  const code = mark === 'else' ? 'invalid-else-placement' : 'invalid-elseif-placement'
  const outer = open.has(...types) ? `Expected to close ${shown(top)} first` : 'No block is open that it could continue'
  return cursor.fail(code, `Unexpected {{ ${mark} }}: ${outer}`)
}

function shown({ node, isElse }: OpenNode): string {
  if (isElse) return '{{ else }}'
  if (node.type === 'ElementTag') return `<${node.name}>`
  return node.type === 'IfBlock' ? '{{ if }}' : '{{ for }}'
}

function endBlock(cursor: Cursor, open: OpenNodes, start: number, type: Block['type']): void {
  if (open.top.node.type !== type) cursor.fail('unexpected-block-close', 'Unexpected block closing tag')
  needEnd(cursor)
  if (open.top.isElse) open.close(start)
  let block = open.close(cursor.index).node
  while (block.type === 'IfBlock' && block.elseif) block = open.close(cursor.index).node
  const before = cursor.text.charAt(block.start - 1)
  const after = cursor.text.charAt(cursor.index)
  trimBlock(block as Block, isBlank(before), isBlank(after))
}

function isBlank(character: string): boolean {
  return character === '' || /\s/.test(character)
}
