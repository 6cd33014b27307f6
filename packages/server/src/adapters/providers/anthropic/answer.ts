import type { FinishReason, ModelChunk, ProviderSettings } from '../../../features/providers/model-driver.ts'
import type { ProviderError } from '../../../features/providers/provider-error.ts'
import { addPiece, addSource, addText, countedUsage, endPieces, type PiecedText } from '../answer/content.ts'
import { brokenInTheMiddle, brokenOff, uncarried } from '../answer/failure.ts'
import type { AnswerReader } from '../answer/stream.ts'
import { asList, asNumber, asObject, asText, type Json, parseAnswer, parseArguments, unreadable } from '../json.ts'
import { answerToolName, isWrapped, unwrapped } from './structured.ts'

interface Block {
  type: string
  text: PiecedText
  id: string
  name: string
  rawInput: string
  signature: string
  isAnswer: boolean
}

export class MessageReader implements AnswerReader {
  isDone = false
  readonly #provider: ProviderSettings
  readonly #schema: Json | undefined
  readonly #open = new Map<number, Block>()
  readonly #types = new Set<string>()
  readonly #usages: Json[] = []
  /** Text beside a structured answer. `finish` adds this text only if no structured answer arrived. */
  #heldText = ''
  #hasAnswer = false
  #hasCalls = false
  #reason = ''

  /** @param schema of a structured answer. The answer arrives as tool input and is passed on as text. */
  constructor(provider: ProviderSettings, schema: Json | undefined) {
    this.#provider = provider
    this.#schema = schema
  }

  readFrame(data: string, into: ModelChunk[]) {
    const frame = parseAnswer(data)
    const index = Number(frame['index'] ?? 0)
    switch (frame['type']) {
      case 'message_start':
        this.#usages.push(asObject(asObject(frame['message'])['usage']))
        return
      case 'content_block_start':
        return this.#beginBlock(index, asObject(frame['content_block']), into)
      case 'content_block_delta':
        return this.#growBlock(index, asObject(frame['delta']), into)
      case 'content_block_stop':
        return this.#endBlock(index, into)
      case 'message_delta':
        this.#usages.push(asObject(frame['usage']))
        this.#reason = asText(asObject(frame['delta'])['stop_reason']) || this.#reason
        return
      case 'message_stop':
        this.isDone = true
        return
      case 'error':
        throw frameError(frame['error'], this.#provider.token)
    }
  }

  readPlain(message: Json, into: ModelChunk[]): void {
    if (message['type'] === 'error') throw frameError(message['error'], this.#provider.token)
    if (!Array.isArray(message['content'])) throw unreadable()
    for (const [index, block] of message['content'].map(asObject).entries()) {
      this.#beginBlock(index, block, into)
      const input = { type: 'input_json_delta', partial_json: JSON.stringify(block['input'] ?? {}) }
      this.#growBlock(index, input, into)
      this.#endBlock(index, into)
    }
    this.#reason = asText(message['stop_reason'])
    this.#usages.push(asObject(message['usage']))
    this.isDone = true
  }

  /**
   * @throws ProviderError `malformed` for an incomplete message; `uncarried` for a complete message with unsupported
   * content and neither text nor tool calls.
   */
  finish(into: ModelChunk[]): void {
    const reason = this.#reason
    if (!this.isDone && reason === '') throw brokenInTheMiddle()
    if (!this.#hasAnswer) addText(this.#heldText, into)
    const types = [...this.#types]
    if (!types.includes('text') && !types.includes('tool_use') && reason === 'end_turn') {
      const ignored = types.find((type) => type !== 'thinking' && type !== 'redacted_thinking')
      if (ignored !== undefined) throw uncarried(ignored)
    }
    into.push({ type: 'finish', finishReason: finishReasonOf(reason, this.#hasCalls), ...usageIn(this.#usages) })
  }

  /** In a plain message, `content` is complete. `readPlain` adds a tool's input afterwards. */
  #beginBlock(index: number, content: Json, into: ModelChunk[]): void {
    const type = asText(content['type'])
    const name = asText(content['name'])
    const block: Block = {
      type,
      text: { held: '' },
      id: asText(content['id']),
      name,
      rawInput: '',
      signature: asText(content['signature']),
      isAnswer: this.#schema !== undefined && name === answerToolName,
    }
    this.#open.set(index, block)
    this.#types.add(type)
    if (type === 'text') this.#say(addPiece(block.text, asText(content['text'])), into)
    if (type === 'thinking') think(addPiece(block.text, asText(content['thinking'])), into)
    if (type === 'redacted_thinking') {
      into.push({ type: 'redacted-reasoning', data: asText(content['data']), provider: this.#provider.name })
    }
    if (type === 'tool_use' && !block.isAnswer) into.push({ type: 'tool-input-start', id: block.id, toolName: name })
    for (const citation of asList(content['citations'])) addSource(citation, into)
  }

  #growBlock(index: number, delta: Json, into: ModelChunk[]) {
    const block = this.#open.get(index)
    if (!block) return
    switch (delta['type']) {
      case 'text_delta':
        return this.#say(addPiece(block.text, asText(delta['text'])), into)
      case 'thinking_delta':
        return think(addPiece(block.text, asText(delta['thinking'])), into)
      case 'signature_delta':
        block.signature += asText(delta['signature'])
        return
      case 'citations_delta':
        return addSource(delta['citation'], into)
      case 'input_json_delta':
        if (block.type === 'tool_use') this.#addInput(block, asText(delta['partial_json']), into)
    }
  }

  #endBlock(index: number, into: ModelChunk[]): void {
    const block = this.#open.get(index)
    this.#open.delete(index)
    if (block?.type === 'text') this.#say(endPieces(block.text), into)
    if (block?.type === 'tool_use') this.#endCall(block, into)
    if (block?.type !== 'thinking') return
    think(endPieces(block.text), into)
    const { signature } = block
    if (signature !== '') into.push({ type: 'reasoning-end', seal: { signature, provider: this.#provider.name } })
  }

  #say(text: string, into: ModelChunk[]): void {
    if (this.#schema) this.#heldText += text
    else addText(text, into)
  }

  #addInput(block: Block, piece: string, into: ModelChunk[]): void {
    if (piece === '') return
    block.rawInput += piece
    if (!block.isAnswer) into.push({ type: 'tool-input-delta', id: block.id, delta: piece })
    else if (this.#schema && !isWrapped(this.#schema)) addText(piece, into)
  }

  #endCall({ id, name, rawInput, isAnswer }: Block, into: ModelChunk[]): void {
    if (isAnswer) {
      this.#hasAnswer = true
      if (this.#schema && isWrapped(this.#schema)) into.push({ type: 'text-delta', text: unwrapped(rawInput) })
      return
    }
    this.#hasCalls = true
    into.push({ type: 'tool-call', id, toolName: name, args: parseArguments(rawInput), rawArgs: rawInput })
  }
}

function think(text: string, into: ModelChunk[]): void {
  if (text !== '') into.push({ type: 'reasoning-delta', text })
}

const reasons = new Map<string, FinishReason>([
  ['', 'unknown'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool-calls'],
  ['refusal', 'content-filter'],
])

/** @param hasCalls true if the model called a tool. The call for a structured answer does not count. */
function finishReasonOf(reason: string, hasCalls: boolean): FinishReason {
  const known = reasons.get(reason) ?? 'other'
  return known === 'tool-calls' && !hasCalls ? 'stop' : known
}

/** @param frames usage objects in order of arrival. A later count replaces an earlier count. */
function usageIn(frames: readonly Json[]) {
  const latest = (key: string) => frames.map((frame) => asNumber(frame[key])).findLast((count) => count !== undefined)
  const cachedInput = latest('cache_read_input_tokens') ?? 0
  const cacheWrite = latest('cache_creation_input_tokens') ?? 0
  const thoughts = frames.map((frame) => asNumber(asObject(frame['output_tokens_details'])['thinking_tokens']))
  return countedUsage({
    input: (latest('input_tokens') ?? 0) + cachedInput + cacheWrite,
    output: latest('output_tokens'),
    reasoning: thoughts.findLast((count) => count !== undefined),
    cachedInput,
    cacheWrite,
  })
}

/** Maps error types to HTTP statuses, because error frames have no status. */
const statuses = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])

function frameError(error: unknown, token: string): ProviderError {
  return brokenOff(statuses.get(asText(asObject(error)['type'])), error, token)
}
