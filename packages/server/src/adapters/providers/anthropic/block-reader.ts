import type { ModelChunk, ProviderSettings } from '../../../features/providers/model-driver.ts'
import { addPiece, addSource, endPieces, type PiecedText } from '../answer/content.ts'
import { uncarried } from '../answer/failure.ts'
import { asText, parseArguments } from '../json.ts'
import { answerToolName, isWrapped, unwrapped } from './structured.ts'

type Json = Record<string, unknown>

export interface Blocks {
  provider: string
  schema: Json | undefined
  open: Map<number, Block>
  /** Text around a structured answer would make it unparseable, so it is returned only without one. */
  heldText: string
  hasAnswer: boolean
  hasCalls: boolean
  types: Set<string>
}

interface Block {
  type: string
  text: PiecedText
  id: string
  name: string
  rawInput: string
  signature: string
  isAnswer: boolean
}

export function newBlocks({ name: provider }: ProviderSettings, schema: Json | undefined): Blocks {
  return { provider, schema, open: new Map(), heldText: '', hasAnswer: false, hasCalls: false, types: new Set() }
}

/** In a plain message, a block has its complete content from the start, except for a tool's input. */
export function beginBlock(blocks: Blocks, index: number, content: Json, into: ModelChunk[]): void {
  const name = asText(content['name'])
  const block: Block = {
    type: asText(content['type']),
    text: { held: '' },
    id: asText(content['id']),
    name,
    rawInput: '',
    signature: asText(content['signature']),
    isAnswer: blocks.schema !== undefined && name === answerToolName,
  }
  const { type } = block
  blocks.open.set(index, block)
  blocks.types.add(type)
  if (type === 'text') say(blocks, addPiece(block.text, asText(content['text'])), into)
  if (type === 'thinking') think(addPiece(block.text, asText(content['thinking'])), into)
  if (type === 'redacted_thinking') {
    into.push({ type: 'redacted-reasoning', data: asText(content['data']), provider: blocks.provider })
  }
  if (type === 'tool_use' && !block.isAnswer) into.push({ type: 'tool-input-start', id: block.id, toolName: name })
  for (const citation of Array.isArray(content['citations']) ? content['citations'] : []) addSource(citation, into)
}

export function growBlock(blocks: Blocks, index: number, delta: Json, into: ModelChunk[]): void {
  const block = blocks.open.get(index)
  if (!block) return
  const { type } = delta
  if (type === 'text_delta') say(blocks, addPiece(block.text, asText(delta['text'])), into)
  else if (type === 'thinking_delta') think(addPiece(block.text, asText(delta['thinking'])), into)
  else if (type === 'signature_delta') block.signature += asText(delta['signature'])
  else if (type === 'citations_delta') addSource(delta['citation'], into)
  else if (type === 'input_json_delta' && block.type === 'tool_use') {
    addInput(blocks, block, asText(delta['partial_json']), into)
  }
}

export function endBlock(blocks: Blocks, index: number, into: ModelChunk[]): void {
  const block = blocks.open.get(index)
  blocks.open.delete(index)
  if (block?.type === 'text') say(blocks, endPieces(block.text), into)
  if (block?.type === 'tool_use') endCall(blocks, block, into)
  if (block?.type !== 'thinking') return
  think(endPieces(block.text), into)
  const { signature } = block
  if (signature !== '') into.push({ type: 'reasoning-end', seal: { signature, provider: blocks.provider } })
}

/** @throws ProviderError `uncarried` if a complete message has no content that stet can represent. */
export function endBlocks({ hasAnswer, heldText, types }: Blocks, reason: string, into: ModelChunk[]): void {
  if (!hasAnswer && heldText !== '') into.push({ type: 'text-delta', text: heldText })
  if (types.has('text') || types.has('tool_use') || reason !== 'end_turn') return
  const ignored = [...types].find((type) => type !== 'thinking' && type !== 'redacted_thinking')
  if (ignored !== undefined) throw uncarried(ignored)
}

function say(blocks: Blocks, text: string, into: ModelChunk[]): void {
  if (blocks.schema) blocks.heldText += text
  else if (text !== '') into.push({ type: 'text-delta', text })
}

function think(text: string, into: ModelChunk[]): void {
  if (text !== '') into.push({ type: 'reasoning-delta', text })
}

function addInput({ schema }: Blocks, block: Block, piece: string, into: ModelChunk[]): void {
  if (piece === '') return
  block.rawInput += piece
  if (!block.isAnswer) into.push({ type: 'tool-input-delta', id: block.id, delta: piece })
  else if (schema && !isWrapped(schema)) into.push({ type: 'text-delta', text: piece })
}

function endCall(blocks: Blocks, { id, name, rawInput, isAnswer }: Block, into: ModelChunk[]): void {
  if (!isAnswer) {
    blocks.hasCalls = true
    into.push({ type: 'tool-call', id, toolName: name, args: parseArguments(rawInput), rawArgs: rawInput })
    return
  }
  blocks.hasAnswer = true
  if (blocks.schema && isWrapped(blocks.schema)) into.push({ type: 'text-delta', text: unwrapped(rawInput) })
}
