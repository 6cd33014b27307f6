/**
 * Reads content blocks as they grow: text, signed thinking, tool calls, and the call that carries a structured answer.
 */
import type { ModelChunk, ProviderSettings } from '../../../features/providers/model-driver.ts'
import { addPiece, addSource, endPieces, type PiecedText } from '../answer/content.ts'
import { asText, parseArguments } from '../json.ts'
import { answerToolName, isWrapped, unwrapped } from './structured.ts'

type Json = Record<string, unknown>

export interface BlockReader {
  /** A block of a plain message starts with its whole content, except for a tool's input. */
  begin(index: number, block: Json, into: ModelChunk[]): void
  grow(index: number, delta: Json, into: ModelChunk[]): void
  end(index: number, into: ModelChunk[]): void
  /** Returns text that was held back. */
  finish(into: ModelChunk[]): void
  /** Whether the model called a tool of the prompt. */
  hasCalls(): boolean
  /** The type of an ignored block, if there was no other content. */
  loneType(): string | undefined
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

export function blockReader({ name: provider }: ProviderSettings, schema: Json | undefined): BlockReader {
  const blocks = new Map<number, Block>()
  let heldText = ''
  let hasAnswer = false
  let hasCalls = false
  const types = new Set<string>()

  // Text around a structured answer would make it unparseable, so it is shown only if no answer comes.
  const say = (text: string, into: ModelChunk[]) => {
    if (schema) heldText += text
    else if (text !== '') into.push({ type: 'text-delta', text })
  }
  const addInput = (block: Block, piece: string, into: ModelChunk[]) => {
    if (piece === '') return
    block.rawInput += piece
    if (!block.isAnswer) into.push({ type: 'tool-input-delta', id: block.id, delta: piece })
    else if (schema && !isWrapped(schema)) into.push({ type: 'text-delta', text: piece })
  }
  const endCall = (block: Block, into: ModelChunk[]) => {
    const { id, name, rawInput } = block
    if (!block.isAnswer) {
      hasCalls = true
      into.push({ type: 'tool-call', id, toolName: name, args: parseArguments(rawInput), rawArgs: rawInput })
      return
    }
    hasAnswer = true
    if (schema && isWrapped(schema)) into.push({ type: 'text-delta', text: unwrapped(rawInput) })
  }
  return {
    begin(index, content, into) {
      const block = newBlock(content, schema !== undefined)
      blocks.set(index, block)
      types.add(block.type)
      if (block.type === 'text') say(addPiece(block.text, asText(content['text'])), into)
      if (block.type === 'thinking') think(addPiece(block.text, asText(content['thinking'])), into)
      if (block.type === 'redacted_thinking') {
        into.push({ type: 'redacted-reasoning', data: asText(content['data']), provider })
      }
      if (block.type === 'tool_use' && !block.isAnswer) {
        into.push({ type: 'tool-input-start', id: block.id, toolName: block.name })
      }
      for (const citation of Array.isArray(content['citations']) ? content['citations'] : []) addSource(citation, into)
    },
    grow(index, delta, into) {
      const block = blocks.get(index)
      if (!block) return
      switch (delta['type']) {
        case 'text_delta':
          return say(addPiece(block.text, asText(delta['text'])), into)
        case 'thinking_delta':
          return think(addPiece(block.text, asText(delta['thinking'])), into)
        case 'signature_delta':
          block.signature += asText(delta['signature'])
          return
        case 'input_json_delta':
          return block.type === 'tool_use' ? addInput(block, asText(delta['partial_json']), into) : undefined
        case 'citations_delta':
          return addSource(delta['citation'], into)
      }
    },
    end(index, into) {
      const block = blocks.get(index)
      blocks.delete(index)
      if (block?.type === 'text') say(endPieces(block.text), into)
      if (block?.type === 'tool_use') endCall(block, into)
      if (block?.type !== 'thinking') return
      think(endPieces(block.text), into)
      if (block.signature !== '') into.push({ type: 'reasoning-end', seal: { signature: block.signature, provider } })
    },
    finish(into) {
      if (!hasAnswer && heldText !== '') into.push({ type: 'text-delta', text: heldText })
    },
    hasCalls() {
      return hasCalls
    },
    loneType() {
      return loneTypeOf(types)
    },
  }
}

function think(text: string, into: ModelChunk[]): void {
  if (text !== '') into.push({ type: 'reasoning-delta', text })
}

/** Thinking is reported but does not count as an answer. */
function loneTypeOf(types: ReadonlySet<string>): string | undefined {
  if (types.has('text') || types.has('tool_use')) return undefined
  return [...types].find((type) => type !== 'thinking' && type !== 'redacted_thinking')
}

function newBlock(content: Json, isStructured: boolean): Block {
  const name = asText(content['name'])
  return {
    type: asText(content['type']),
    text: { held: '' },
    id: asText(content['id']),
    name,
    rawInput: '',
    signature: asText(content['signature']),
    isAnswer: isStructured && name === answerToolName,
  }
}
