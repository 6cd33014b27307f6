import type {
  CountedUsage,
  FinishReason,
  ModelChunk,
  ModelRequest,
  ProviderSettings,
} from '../../../features/providers/model-driver.ts'
import {
  addPiece,
  addSource,
  addText,
  countedUsage,
  endCalls,
  endPieces,
  foreignCalls,
  type HeldCall,
  mergeCounts,
  type PiecedText,
  reasonWithoutCalls,
} from '../answer/content.ts'
import { uncarried } from '../answer/failure.ts'
import type { AnswerReader } from '../answer/frames.ts'
import {
  argumentsIn,
  asCount,
  asList,
  asObject,
  asText,
  holdsText,
  isObject,
  type Json,
  objectIn,
  textIn,
  UnknownForm,
} from '../json.ts'
import { keys } from '../request/body.ts'
import { answerToolName, isWrapped, unwrapped } from './messages.ts'

interface Block {
  type: string
  text: PiecedText
  id: string
  name: string
  /** The input at the block's start. Deltas replace it. */
  givenInput: string
  rawInput: string
  signature: string
  isAnswer: boolean
}

export class MessageReader implements AnswerReader {
  isDone = false
  isEnding = false
  readonly #provider: ProviderSettings
  readonly #schema: Json | undefined
  readonly #canCall: boolean
  readonly #open = new Map<number, Block>()
  readonly #types = new Set<string>()
  readonly #counts: Json = Object.create(null)
  readonly #calls: HeldCall[] = []
  readonly #ids = new Set<string>()
  /** The message at the start of the stream. Its content counts if no block follows. */
  #start: Json = {}
  /** Text beside a structured answer. `finish` adds this text only if no structured answer arrived. */
  #heldText = ''
  #hasAnswer = false
  #hasWords = false
  #reason = ''

  /** A structured answer arrives as tool input and is passed on as text. */
  constructor(provider: ProviderSettings, { schema, tools }: Pick<ModelRequest, 'schema' | 'tools'>) {
    this.#provider = provider
    this.#schema = schema
    this.#canCall = schema !== undefined || tools.length > 0
  }

  get token(): string {
    return this.#provider.token
  }

  get hasContent(): boolean {
    return this.#hasWords || this.#types.has('tool_use') || isContent(this.#start['content'])
  }

  readFrame(frame: Json, into: ModelChunk[], event: string | undefined): boolean {
    const index = Number(frame['index'] ?? 0)
    switch (frame['type'] ?? event) {
      case 'message_start':
        this.#start = asObject(frame['message'])
        mergeCounts(this.#counts, this.#start['usage'])
        return true
      case 'content_block_start':
        this.#beginBlock(index, asObject(frame['content_block']), into)
        return true
      case 'content_block_delta':
        return this.#growBlock(index, objectIn(frame['delta']), into)
      case 'content_block_stop':
        this.#endBlock(index, into)
        return true
      case 'message_delta':
        mergeCounts(this.#counts, frame['usage'])
        this.#setReason(asObject(frame['delta'])['stop_reason'])
        return !holdsText(asObject(frame['delta'])['content'])
      case 'message_stop':
        this.isDone = true
        return true
      case 'message':
      case undefined:
        return this.readPlain(frame, into)
      default:
        return false
    }
  }

  readPlain(message: Json, into: ModelChunk[]): boolean {
    const { content } = message
    if (!Array.isArray(content) && typeof content !== 'string') return false
    const blocks = (typeof content === 'string' ? [content] : content).map(blockIn)
    for (const [index, block] of blocks.entries()) {
      this.#beginBlock(index, block, into, true)
      this.#endBlock(index, into)
    }
    mergeCounts(this.#counts, message['usage'])
    this.#setReason(message['stop_reason'])
    this.isDone = true
    return true
  }

  /** A proxy may send the mark of another protocol. */
  readEndMark(): void {
    this.isDone = this.isEnding
  }

  counted(): CountedUsage | undefined {
    return Object.keys(this.#counts).length > 0 ? messageUsage(this.#counts) : undefined
  }

  /**
   * @throws ProviderError `malformed` for half a call in a message without a stop reason; `uncarried` for a complete
   * message with unsupported content and neither text nor tool calls.
   */
  finish(into: ModelChunk[]): void {
    for (const index of [...this.#open.keys()]) this.#endBlock(index, into)
    if (this.#types.size === 0 && isContent(this.#start['content'])) this.readPlain(this.#start, into)
    if (!this.#hasAnswer) addText(this.#heldText, into)
    const types = [...this.#types]
    if (!types.includes('text') && !types.includes('tool_use') && this.#reason === 'end_turn') {
      const ignored = types.find((type) => type !== 'thinking' && type !== 'redacted_thinking')
      if (ignored !== undefined) throw uncarried(ignored)
    }
    const known = finishReasonOf(this.#reason)
    const reason = known === 'tool-calls' && this.#calls.length === 0 ? this.#reasonOfText() : known
    into.push({ type: 'finish', finishReason: endCalls(this.#calls, reason, into), ...messageUsage(this.#counts) })
  }

  #reasonOfText(): FinishReason {
    const isLost = !this.#hasAnswer && (this.#canCall || !this.hasContent)
    return reasonWithoutCalls(isLost, { stop_reason: this.#reason }, this.token)
  }

  #setReason(reason: unknown): void {
    const text = asText(reason).trim()
    if (text === '' || text === 'null') return
    this.#reason = text
    this.isEnding = true
  }

  /** @param isWhole true if the block is complete. Otherwise the input is empty and deltas with its text follow. */
  #beginBlock(index: number, content: Json, into: ModelChunk[], isWhole = false): void {
    this.#endBlock(index, into)
    this.isEnding = false
    const { text, thinking, input } = content
    const type = asText(content['type']) || (text === undefined ? '' : 'text')
    const name = asText(content['name'])
    if (type === '' || (type === 'tool_use' && name === '')) throw new UnknownForm()
    if (type !== 'tool_use' && foreignCalls.has(type)) throw uncarried(type)
    const given = type === 'tool_use' ? argumentsIn(content, 'input') || '{}' : ''
    const block: Block = {
      type,
      text: { held: '' },
      id: this.#newId(asText(content['id'])),
      name,
      givenInput: isWhole || isContent(input) ? given : '',
      rawInput: '',
      signature: asText(content['signature']),
      isAnswer: this.#schema !== undefined && name === answerToolName,
    }
    this.#open.set(index, block)
    this.#types.add(type)
    if (type === 'text') this.#say(addPiece(block.text, textIn(text)), into)
    if (type === 'thinking') this.#think(addPiece(block.text, textIn(thinking)), into)
    if (type === 'redacted_thinking') {
      this.#hasWords = true
      into.push({ type: 'redacted-reasoning', data: asText(content['data']), provider: this.#provider.name })
    }
    if (type === 'tool_use' && !block.isAnswer) into.push({ type: 'tool-input-start', id: block.id, toolName: name })
    for (const citation of asList(content['citations'])) addSource(citation, into)
  }

  /** Returns another id for a call without one, and for a second call with the same one. */
  #newId(given: string): string {
    const id = given === '' || this.#ids.has(given) ? `call_${this.#ids.size}` : given
    this.#ids.add(id)
    return id
  }

  /**
   * Some proxies omit the type of a delta, and the start of text and thinking.
   * @returns false for a delta of an unknown type.
   */
  #growBlock(index: number, delta: Json | undefined, into: ModelChunk[]): boolean {
    if (!delta) return false
    const { type, text, thinking, signature, citation, partial_json: input } = delta
    this.isEnding = false
    if (typeof text === 'string') {
      this.#say(addPiece(this.#blockAt(index, 'text', into).text, text), into)
    } else if (typeof thinking === 'string') {
      this.#think(addPiece(this.#blockAt(index, 'thinking', into).text, thinking), into)
    } else if (typeof input === 'string' || isObject(input)) {
      const block = this.#open.get(index)
      if (!block || block.type === 'text' || block.type === 'thinking') throw new UnknownForm()
      if (block.type === 'tool_use')
        this.#addInput(block, typeof input === 'string' ? input : JSON.stringify(input), into)
    } else if (typeof signature === 'string') this.#blockAt(index, 'thinking', into).signature += signature
    else if (citation !== undefined) addSource(citation, into)
    // Without its content, a delta of a known type would leave a gap.
    else if (contentDeltas.has(asText(type)) && Object.keys(delta).length > 1) throw new UnknownForm()
    else return Object.keys(delta).length === 0 || contentDeltas.has(asText(type))
    return true
  }

  #blockAt(index: number, type: string, into: ModelChunk[]): Block {
    const known = this.#open.get(index)
    if (known) return known
    this.#beginBlock(index, { type }, into)
    return this.#blockAt(index, type, into)
  }

  #endBlock(index: number, into: ModelChunk[]): void {
    const block = this.#open.get(index)
    if (!block) return
    this.#open.delete(index)
    if (block.type === 'text') this.#say(endPieces(block.text), into)
    if (block.type === 'tool_use') this.#endCall(block, into)
    if (block.type !== 'thinking') return
    this.#think(endPieces(block.text), into)
    const { signature } = block
    if (signature !== '') into.push({ type: 'reasoning-end', seal: { signature, provider: this.#provider.name } })
  }

  #say(text: string, into: ModelChunk[]): void {
    if (text !== '') this.#hasWords = true
    if (this.#schema) this.#heldText += text
    else addText(text, into)
  }

  #think(text: string, into: ModelChunk[]): void {
    if (text === '') return
    this.#hasWords = true
    into.push({ type: 'reasoning-delta', text })
  }

  #addInput(block: Block, piece: string, into: ModelChunk[]): void {
    if (piece === '') return
    block.rawInput += piece
    if (!block.isAnswer) into.push({ type: 'tool-input-delta', id: block.id, delta: piece })
    else if (this.#schema && !isWrapped(this.#schema)) addText(piece, into)
  }

  #endCall(block: Block, into: ModelChunk[]): void {
    if (block.rawInput === '') this.#addInput(block, block.givenInput, into)
    const { id, name, rawInput: rawArgs, isAnswer } = block
    if (!isAnswer) this.#calls.push({ id, name, rawArgs })
    else {
      this.#hasAnswer = true
      if (this.#schema && isWrapped(this.#schema)) into.push({ type: 'text-delta', text: unwrapped(rawArgs) })
    }
  }
}

/** True for a list, an object or a text that is not empty. */
function isContent(value: unknown): boolean {
  return (isObject(value) ? Object.keys(value) : typeof value === 'string' ? value : asList(value)).length > 0
}

/** @throws UnknownForm for a block that is neither text nor an object. */
function blockIn(block: unknown): Json {
  if (typeof block === 'string') return { type: 'text', text: block }
  if (!isObject(block)) throw new UnknownForm()
  return block
}

const contentDeltas = keys('text_delta thinking_delta input_json_delta')

const reasons = new Map<string, FinishReason>([
  ['', 'unknown'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool-calls'],
  ['refusal', 'content-filter'],
])

function finishReasonOf(reason: string): FinishReason {
  return reasons.get(reason) ?? 'other'
}

function messageUsage(usage: Json): CountedUsage {
  const cachedInput = asCount(usage['cache_read_input_tokens']) ?? 0
  const cacheWrite = asCount(usage['cache_creation_input_tokens']) ?? 0
  const counts = {
    input: (asCount(usage['input_tokens']) ?? 0) + cachedInput + cacheWrite,
    output: asCount(usage['output_tokens']),
    reasoning: asCount(asObject(usage['output_tokens_details'])['thinking_tokens']),
    cachedInput,
    cacheWrite,
  }
  return countedUsage(counts, '')
}
