import type { FinishReason, ModelChunk } from '../../../../features/providers/model-driver.ts'
import { storableText } from '../../../../shared/text-guards.ts'
import { addPiece, addSource, addText, countedUsage, endPieces, generatedImage } from '../../answer/content.ts'
import { brokenInTheMiddle, uncarried } from '../../answer/failure.ts'
import type { AnswerReader } from '../../answer/stream.ts'
import { asList, asNumber, asObject, asText, type Json, parseAnswer, parseArguments, unreadable } from '../../json.ts'
import { keys } from '../../request/settings.ts'
import { frameError } from '../errors.ts'
import type { OpenaiService } from '../service.ts'

/** Types of items that the caller must answer in formats that stet's messages do not support. */
const awaited = keys('computer_call local_shell_call shell_call apply_patch_call custom_tool_call mcp_approval_request')

export class ResponseReader implements AnswerReader {
  isDone = false
  readonly #provider: OpenaiService
  readonly #text = { held: '' }
  readonly #reasoning = { held: '' }
  readonly #callIds = new Map<string, string>()
  #hasCalls = false
  #hasContent = false
  #ignoredType: string | undefined
  #response: Json = {}

  constructor(provider: OpenaiService) {
    this.#provider = provider
  }

  /** The final frame repeats the complete response. The output in this frame is not read again. */
  readFrame(data: string, into: ModelChunk[]) {
    if (data === '[DONE]') return
    const frame = parseAnswer(data)
    const delta = asText(frame['delta'])
    const id = asText(frame['item_id'])
    switch (frame['type']) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return addText(addPiece(this.#text, delta), into)
      case 'response.reasoning_summary_part.added':
        return Number(frame['summary_index']) > 0 ? this.#think('\n\n', id, into) : undefined
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#think(delta, id, into)
      case 'response.output_text.annotation.added':
        return addSource(frame['annotation'], into)
      case 'response.output_item.added':
        return this.#beginItem(asObject(frame['item']), into)
      case 'response.function_call_arguments.delta':
        return this.#addArguments(id, delta, into)
      case 'response.output_item.done':
        return this.#endItem(asObject(frame['item']), into)
      case 'response.completed':
      case 'response.incomplete':
        addText(endPieces(this.#text), into)
        return this.#end(asObject(frame['response']))
      case 'response.failed':
        throw frameError(asObject(frame['response'])['error'], this.#provider.token)
      case 'error':
        throw frameError(frame['error'] ?? frame, this.#provider.token)
    }
  }

  readPlain(response: Json, into: ModelChunk[]): void {
    const { error, output } = response
    if (error !== undefined && error !== null) throw frameError(error, this.#provider.token)
    if (!Array.isArray(output)) throw unreadable()
    for (const item of output.map(asObject)) {
      const { type } = item
      if (type === 'message') readMessage(item, into)
      if (type === 'reasoning') readThought(item, into)
      this.#beginItem(item, into)
      if (type === 'function_call') this.#addArguments(asText(item['id']), asText(item['arguments']), into)
      this.#endItem(item, into)
    }
    this.#end(response)
  }

  finish(into: ModelChunk[]): void {
    if (!this.isDone) throw brokenInTheMiddle()
    const servedModel = this.#provider.traits.namesDeployments ? asText(this.#response['model']) : ''
    into.push({
      type: 'finish',
      finishReason: reasonOf(this.#response, this.#hasCalls),
      ...responseUsage(this.#response['usage']),
      ...(servedModel === '' ? {} : { servedModel }),
    })
  }

  #think(piece: string, id: string, into: ModelChunk[]): void {
    const text = addPiece(this.#reasoning, piece)
    if (text !== '') into.push({ type: 'reasoning-delta', text, ...(id === '' ? {} : { id }) })
  }

  #beginItem(item: Json, into: ModelChunk[]): void {
    if (item['type'] !== 'function_call') return
    const id = asText(item['call_id']) || asText(item['id'])
    this.#callIds.set(asText(item['id']), id)
    into.push({ type: 'tool-input-start', id, toolName: asText(item['name']) })
  }

  #addArguments(itemId: string, delta: string, into: ModelChunk[]): void {
    const id = this.#callIds.get(itemId)
    if (id !== undefined && delta !== '') into.push({ type: 'tool-input-delta', id, delta })
  }

  /** @throws ProviderError `uncarried` for audio, and for an item that the caller would have to answer. */
  #endItem(item: Json, into: ModelChunk[]): void {
    const type = asText(item['type'])
    const itemId = asText(item['id'])
    if (type === 'function_call') {
      this.#hasCalls = true
      const rawArgs = asText(item['arguments'])
      const id = asText(item['call_id']) || itemId
      into.push({ type: 'tool-call', id, toolName: asText(item['name']), args: parseArguments(rawArgs), rawArgs })
    } else if (type === 'reasoning') {
      const seal = { signature: asText(item['encrypted_content']), provider: this.#provider.name }
      if (seal.signature !== '') into.push({ type: 'reasoning-end', id: itemId, seal })
    } else if (type === 'image_generation_call') {
      const content = asText(item['result'])
      const format = asText(item['output_format'])
      if (content === '') return
      this.#hasContent = true
      into.push(generatedImage(content, format === '' ? undefined : `image/${format}`))
    } else if (type === 'message') {
      this.#hasContent = true
      const sound = partsOf(item['content'])
        .map((part) => asText(part['type']))
        .find((name) => name.includes('audio'))
      if (sound !== undefined) throw uncarried(sound)
    } else if (awaited.has(type)) throw uncarried(type)
    else this.#ignoredType ??= type
  }

  /**
   * @throws ProviderError `uncarried` for a complete response with unsupported items, but no message, image or
   * tool call.
   */
  #end(response: Json): void {
    const isEmpty = !this.#hasCalls && !this.#hasContent && response['status'] === 'completed'
    if (isEmpty && this.#ignoredType !== undefined) throw uncarried(this.#ignoredType)
    this.#response = response
    this.isDone = true
  }
}

function readMessage(item: Json, into: ModelChunk[]): void {
  for (const part of partsOf(item['content'])) {
    addText(storableText(asText(part['text']) || asText(part['refusal'])), into)
    for (const annotation of partsOf(part['annotations'])) addSource(annotation, into)
  }
}

function readThought(item: Json, into: ModelChunk[]): void {
  const said = [...partsOf(item['summary']), ...partsOf(item['content'])].map((part) => asText(part['text']))
  const text = storableText(said.join('\n\n'))
  if (text !== '') into.push({ type: 'reasoning-delta', text, id: asText(item['id']) })
}

function partsOf(value: unknown): Json[] {
  return asList(value).map(asObject)
}

function reasonOf(response: Json, hasCalls: boolean): FinishReason {
  const { reason } = asObject(response['incomplete_details'])
  if (reason === 'max_output_tokens' || reason === 'max_tokens') return 'length'
  if (reason === 'content_filter') return 'content-filter'
  if (response['status'] === 'incomplete') return 'other'
  return hasCalls ? 'tool-calls' : 'stop'
}

function responseUsage(value: unknown) {
  const { input_tokens, output_tokens, input_tokens_details, output_tokens_details } = asObject(value)
  const details = asObject(input_tokens_details)
  return countedUsage({
    input: asNumber(input_tokens),
    output: asNumber(output_tokens),
    reasoning: asNumber(asObject(output_tokens_details)['reasoning_tokens']),
    cachedInput: asNumber(details['cached_tokens']),
    cacheWrite: asNumber(details['cache_write_tokens']),
  })
}
