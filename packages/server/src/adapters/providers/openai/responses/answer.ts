import type { CountedUsage, FinishReason, ModelChunk } from '../../../../features/providers/model-driver.ts'
import { storableText } from '../../../../shared/text-guards.ts'
import {
  addPiece,
  addSource,
  addText,
  countedUsage,
  endPieces,
  foreignCalls,
  generatedImage,
  mergeCounts,
} from '../../answer/content.ts'
import { frameError, isFailure, uncarried } from '../../answer/failure.ts'
import type { AnswerReader } from '../../answer/frames.ts'
import { asCount, asList, asObject, asText, holdsText, isObject, type Json, textIn, UnknownForm } from '../../json.ts'
import { keys } from '../../request/body.ts'
import type { OpenaiService } from '../kinds.ts'
import { deltaIn, ResponseCalls } from './calls.ts'

/** Types of items that the caller must answer in formats that stet's messages do not support. */
const awaited = keys('computer_call local_shell_call shell_call apply_patch_call custom_tool_call mcp_approval_request')

export class ResponseReader implements AnswerReader {
  isDone = false
  readonly #provider: OpenaiService
  readonly #text = { held: '' }
  readonly #reasoning = { held: '' }
  readonly #calls: ResponseCalls
  readonly #counts: Json = Object.create(null)
  /** The text that deltas have brought. The other events of a text repeat it, each kind for itself. */
  #said = ''
  #repeated = { text: '', part: '', item: '' }
  /** True if deltas have brought the current reasoning text or item. */
  #thoughts = { text: false, item: false }
  #hasThought = false
  /** True if the events have brought reasoning. Then the complete response repeats it. */
  #isThoughtKnown = false
  #isRefused = false
  readonly #seals = new Set<string>()
  readonly #images = new Set<string>()
  readonly #sources = new Set<unknown>()
  #hasMessage = false
  #ignoredType: string | undefined
  #response: Json = {}

  constructor(provider: OpenaiService) {
    this.#provider = provider
    this.#calls = new ResponseCalls(provider.token)
  }

  get token(): string {
    return this.#provider.token
  }

  get isEnding(): boolean {
    return this.isDone
  }

  get hasContent(): boolean {
    return this.#said !== '' || this.#hasThought || this.#calls.count > 0 || this.#images.size > 0
  }

  readFrame(frame: Json, into: ModelChunk[], event: string | undefined): boolean {
    const type = asText(frame['type']) || event || ''
    if (type === '' && Array.isArray(frame['output'])) return this.readPlain(frame, into)
    const item = asObject(frame['item'])
    switch (type) {
      case 'response.refusal.delta':
      case 'response.output_text.delta':
        this.#isRefused ||= type === 'response.refusal.delta'
        this.#say(deltaIn(frame), into)
        break
      case 'response.output_text.done':
      case 'response.refusal.done':
        this.#repeated.text += textIn(frame['text']) || textIn(frame['refusal'])
        break
      case 'response.content_part.done':
        this.#repeated.part += textOfPart(asObject(frame['part']))
        break
      case 'response.reasoning_summary_part.added':
        if (Number(frame['summary_index']) > 0) this.#think('\n\n', asText(frame['item_id']), into)
        this.#thoughts.text = false
        break
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#think(deltaIn(frame), asText(frame['item_id']), into)
        break
      case 'response.reasoning_summary_text.done':
      case 'response.reasoning_text.done':
        if (!this.#thoughts.text) this.#think(asText(frame['text']), asText(frame['item_id']), into)
        this.#thoughts.text = false
        break
      case 'response.output_text.annotation.added':
        this.#addSource(frame['annotation'], into)
        break
      case 'response.output_item.added':
        if (item['type'] === 'function_call') this.#calls.begin(frame, item, into)
        if (item['type'] === 'reasoning') this.#calls.addDone(into)
        break
      case 'response.function_call_arguments.delta':
        this.#calls.addArguments(frame, into)
        break
      case 'response.function_call_arguments.done':
        this.#calls.endArguments(frame, into)
        break
      case 'response.output_item.done':
        if (item['type'] === 'message') this.#repeated.item += textOf(item)
        this.#endItem(frame, item, into)
        break
      default:
        return this.#readState(type, frame, into)
    }
    return true
  }

  readPlain(response: Json, into: ModelChunk[]): boolean {
    if (!Array.isArray(response['output'])) return false
    if (isOpen(response)) throw frameError(response, this.token)
    this.#end(response, into)
    return true
  }

  /** The protocol has an event for the end of a response. */
  readEndMark(): void {}

  counted(): CountedUsage | undefined {
    const isCounted = Object.keys(this.#counts).length > 0
    return isCounted ? responseUsage(this.#counts, this.#servedModel()) : undefined
  }

  /** @throws ProviderError `uncarried` for a complete response with nothing but unsupported items. */
  finish(into: ModelChunk[]): void {
    const isEmpty = this.#said === '' && this.#calls.count === 0 && !this.#hasMessage && this.#images.size === 0
    const isComplete = this.#response['status'] === 'completed'
    if (isEmpty && isComplete && this.#ignoredType !== undefined) throw uncarried(this.#ignoredType)
    const finishReason = this.#calls.addAll(reasonOf(this.#response, this.#isRefused), into)
    into.push({ type: 'finish', finishReason, ...responseUsage(this.#counts, this.#servedModel()) })
  }

  /** Reads events of the whole response. Other types are no part of the protocol. */
  #readState(type: string, frame: Json, into: ModelChunk[]): boolean {
    const { response } = frame
    if (isObject(response)) mergeCounts(this.#counts, response['usage'])
    if (/^response\.(completed|incomplete|done)$/.test(type)) {
      if (!isObject(response) && !this.hasContent) return false
      this.#end({ ...(type === 'response.incomplete' && { status: 'incomplete' }), ...asObject(response) }, into)
    } else if (/^response\.(failed|cancell?ed)$/.test(type)) throw failureOf(asObject(response), this.token)
    if (/error/i.test(type)) return false
    return type.startsWith('response.') && !holdsText([frame['delta'], frame['text'], frame['content']])
  }

  /** Adds the parts of the complete response that no event has brought. */
  #end(response: Json, into: ModelChunk[]): void {
    const { error, status } = response
    if (isFailure(error) || /^(failed|cancell?ed)$/.test(asText(status))) throw failureOf(response, this.token)
    const output = itemsOf(response)
    if (isOpen(response) && output.length === 0 && !this.hasContent) throw failureOf(response, this.token)
    mergeCounts(this.#counts, response['usage'])
    this.#isThoughtKnown = this.#hasThought
    let at: number | undefined = 0
    for (const [output_index, item] of output.entries()) {
      if (item['type'] === 'message' && at !== undefined) at = this.#completeAt(at, textOf(item), into)
      this.#endItem({ output_index }, item, into)
    }
    for (const repeated of Object.values(this.#repeated)) this.#complete(repeated, into)
    this.#complete(asText(response['output_text']), into)
    addText(endPieces(this.#text), into)
    this.#response = response
    this.isDone = true
  }

  #say(piece: string, into: ModelChunk[]): void {
    this.#said += piece
    addText(addPiece(this.#text, piece), into)
  }

  /**
   * Adds what is missing of a part of the complete text that starts at `at`. Compares part by part, because comparing the
   * growing text would cost the square of its length.
   * @returns the end of the part, or undefined if another text has arrived.
   */
  #completeAt(at: number, part: string, into: ModelChunk[]): number | undefined {
    const known = this.#said.length - at
    if (known > 0 && !this.#said.startsWith(part.slice(0, known), at)) return undefined
    if (part.length > known) this.#say(part.slice(known), into)
    return at + part.length
  }

  /** Adds the rest of a text whose start has arrived. */
  #complete(text: string, into: ModelChunk[]): void {
    const { length } = this.#said
    if (text.length > length && text.startsWith(this.#said)) this.#say(text.slice(length), into)
  }

  #think(piece: string, id: string, into: ModelChunk[]): void {
    if (piece === '') return
    this.#hasThought = true
    this.#thoughts = { text: true, item: true }
    const text = addPiece(this.#reasoning, piece)
    if (text !== '') into.push({ type: 'reasoning-delta', text, ...(id === '' ? {} : { id }) })
  }

  /** @throws ProviderError `uncarried` for audio, and for an item that the caller would have to answer. */
  #endItem(frame: Json, item: Json, into: ModelChunk[]): void {
    const type = asText(itemIn(item)['type'])
    if (type === 'function_call') this.#calls.end(frame, item, into)
    else if (type === 'reasoning') this.#endThought(item, into)
    else if (type === 'image_generation_call') this.#addImage(item, into)
    else if (type === 'message') this.#endMessage(item, into)
    else if (awaited.has(type) || foreignCalls.has(type)) throw uncarried(type)
    else this.#ignoredType ??= type
  }

  #endMessage(item: Json, into: ModelChunk[]): void {
    const parts = contentOf(item)
    this.#hasMessage ||= parts.length === 0
    for (const part of parts) {
      const type = asText(part['type'])
      if (type.includes('audio')) throw uncarried(type)
      if (partTypes.has(type)) this.#hasMessage = true
      else this.#ignoredType ??= type
      if (asText(part['refusal']) !== '') this.#isRefused = true
      // Citations of a stream have events of their own. The complete response comes after its text.
      for (const annotation of partsOf(part['annotations'])) this.#addSource(annotation, into)
    }
  }

  #endThought(item: Json, into: ModelChunk[]): void {
    this.#calls.addDone(into)
    const id = asText(item['id'])
    const signature = asText(item['encrypted_content'])
    const isKnown = signature === '' ? this.#isThoughtKnown : this.#seals.has(signature)
    if (!this.#thoughts.item && !isKnown) {
      const said = [...partsOf(item['summary']), ...partsOf(item['content'])].map((part) => asText(part['text']))
      this.#think(storableText(said.join('\n\n')), id, into)
    }
    this.#thoughts = { text: false, item: false }
    if (signature === '' || this.#seals.has(signature)) return
    this.#seals.add(signature)
    into.push({ type: 'reasoning-end', id, seal: { signature, provider: this.#provider.name } })
  }

  #addImage(item: Json, into: ModelChunk[]): void {
    const content = asText(item['result'])
    const format = asText(item['output_format'])
    if (content === '' || this.#images.has(content)) return
    this.#images.add(content)
    into.push(generatedImage(content, format === '' ? undefined : `image/${format}`))
  }

  #addSource(annotation: unknown, into: ModelChunk[]): void {
    const { url } = asObject(annotation)
    if (this.#sources.has(url)) return
    this.#sources.add(url)
    addSource(annotation, into)
  }

  #servedModel(): string {
    return this.#provider.traits.namesDeployments ? asText(this.#response['model']) : ''
  }
}

function failureOf(response: Json, token: string) {
  const { error } = response
  return frameError(isFailure(error) ? error : response, token)
}

function isOpen({ status }: Json): boolean {
  return status === 'queued' || status === 'in_progress'
}

const partTypes = keys('output_text text refusal reasoning_text')

/** Returns the text of a message. @throws UnknownForm for content of an unknown form. */
function textOf(item: Json): string {
  return contentOf(item).map(textOfPart).join('')
}

function textOfPart({ type, text, refusal }: Json): string {
  return type === 'reasoning_text' ? '' : textIn(text) || textIn(refusal)
}

/** Returns the parts of a message. Some services send text in place of parts. */
function contentOf({ content, text }: Json): Json[] {
  const parts = Array.isArray(content) ? content : [content ?? text]
  return parts
    .filter((part) => part !== undefined && part !== null)
    .map((part: unknown) => (typeof part === 'string' ? { type: 'output_text', text: part } : itemIn(part)))
}

/** @throws UnknownForm for an output that is neither a list nor absent. */
function itemsOf({ output }: Json): Json[] {
  if (Array.isArray(output)) return output.map(itemIn)
  if (holdsText(output)) throw new UnknownForm()
  return []
}

/** @throws UnknownForm for anything but an object with a type. */
function itemIn(item: unknown): Json {
  if (!isObject(item) || asText(item['type']) === '') throw new UnknownForm()
  return item
}

function partsOf(value: unknown): Json[] {
  return asList(value).map(asObject)
}

function reasonOf(response: Json, isRefused: boolean): FinishReason {
  const { reason } = asObject(response['incomplete_details'])
  if (reason === 'max_output_tokens' || reason === 'max_tokens') return 'length'
  if (reason === 'content_filter' || isRefused) return 'content-filter'
  return ['incomplete', 'expired'].includes(asText(response['status'])) ? 'other' : 'stop'
}

function responseUsage(usage: Json, servedModel: string): CountedUsage {
  const { input_tokens, output_tokens, input_tokens_details, output_tokens_details } = usage
  const details = asObject(input_tokens_details)
  const counts = {
    input: asCount(input_tokens),
    output: asCount(output_tokens),
    reasoning: asCount(asObject(output_tokens_details)['reasoning_tokens']),
    cachedInput: asCount(details['cached_tokens']),
    cacheWrite: asCount(details['cache_write_tokens']),
  }
  return countedUsage(counts, servedModel)
}
