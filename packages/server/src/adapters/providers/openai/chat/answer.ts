import type {
  CountedUsage,
  FinishReason,
  ModelChunk,
  ModelRequest,
} from '../../../../features/providers/model-driver.ts'
import {
  addPiece,
  addSource,
  addText,
  countedUsage,
  endCalls,
  endPieces,
  mergeCounts,
  reasonWithoutCalls,
} from '../../answer/content.ts'
import { frameError, isFailure, strayError, uncarried } from '../../answer/failure.ts'
import type { AnswerReader } from '../../answer/frames.ts'
import { asCount, asList, asObject, asText, isObject, type Json, objectIn, textIn, UnknownForm } from '../../json.ts'
import { settingsBody } from '../../request/body.ts'
import type { KindTraits, OpenaiService } from '../kinds.ts'
import { Choices, isStrange, reasonIn, splitThought, type ThoughtMarks, wordsOf } from './choices.ts'
import { type Attachments, addAttachments } from './media.ts'
import { CallParts, callsIn } from './tool-calls.ts'

export class ChatReader implements AnswerReader {
  isDone = false
  isEnding = false
  isEndCertain = false
  readonly #provider: OpenaiService
  readonly #hasTools: boolean
  readonly #isOneOfMany: boolean
  /** Created with the first frame of a stream, because most plain answers have one choice. */
  #choices: Choices | undefined
  readonly #text = { held: '' }
  readonly #reasoning = { held: '' }
  readonly #marks: ThoughtMarks = { state: 'answer', held: '' }
  /** Created with the first call, because most answers have none. */
  #calls: CallParts | undefined
  readonly #attached: Attachments = { images: new Set(), unknownType: undefined }
  readonly #counts: Json = Object.create(null)
  #sealed: unknown[] = []
  #pages: unknown
  /** The text so far, as it arrived. */
  #said = ''
  /** Whether complete messages in a stream contain the text so far or the next piece. Unknown after the first one. */
  #messages: 'first' | 'whole' | 'pieces' | undefined
  #hasDeltas = false
  #hasThought = false
  #isRefused = false
  #isThinking = false
  #finishReason: string | undefined
  /** True if content has followed a finish reason. Then a finish reason beside content is no end. */
  #isRepeated = false
  #servedModel = ''

  constructor(provider: OpenaiService, { settings, tools }: Pick<ModelRequest, 'settings' | 'tools'>) {
    this.#provider = provider
    this.#hasTools = tools.length > 0
    const { n } = settingsBody(provider, settings, { names: {}, dropped: new Set() }) as Json
    this.#isOneOfMany = Number(n) > 1
  }

  get token(): string {
    return this.#provider.token
  }

  get hasContent(): boolean {
    return this.#said !== '' || this.#hasThought || this.#calls !== undefined || this.#attached.images.size > 0
  }

  readFrame(frame: Json, into: ModelChunk[]): boolean {
    return this.#read(frame, false, into)
  }

  readPlain(answer: Json, into: ModelChunk[]): boolean {
    if (!this.#read(answer, true, into)) return false
    this.isDone = true
    this.isEnding ||= this.#hasDeltas
    return asList(answer['choices']).length > 0
  }

  readEndMark(): void {
    this.isDone = true
  }

  counted(): CountedUsage | undefined {
    const isCounted = Object.keys(this.#counts).length > 0
    return isCounted ? chatUsage(this.#counts, this.#provider.traits, this.#servedModel) : undefined
  }

  finish(into: ModelChunk[]): void {
    const { name: provider, traits } = this.#provider
    const held = this.#choices?.held
    if (held) this.#readChoice(held, false, into)
    if (this.#marks.held !== '') this.#think(this.#marks.held, into)
    if (this.#isThinking) this.#endThought(into)
    addText(endPieces(this.#text), into)
    if (this.#sealed.length > 0) {
      into.push({ type: 'reasoning-end', seal: { signature: JSON.stringify(this.#sealed), provider } })
    }
    const { images, unknownType } = this.#attached
    const isEmpty = this.#said === '' && !this.#calls && images.size === 0
    if (isEmpty && unknownType !== undefined) throw uncarried(unknownType)
    const named = finishReasonOf(this.#finishReason)
    const known = this.#isRefused && named === 'stop' ? 'content-filter' : named
    const reason = known === 'tool-calls' && !this.#calls ? this.#reasonOfText() : known
    const finishReason = this.#calls ? endCalls(this.#calls.held(provider), reason, into) : reason
    for (const page of asList(this.#pages)) addSource(page, into)
    into.push({ type: 'finish', finishReason, ...chatUsage(this.#counts, traits, this.#servedModel) })
  }

  #reasonOfText(): FinishReason {
    const said = { finish_reason: this.#finishReason, content: this.#said }
    return reasonWithoutCalls(this.#hasTools || !this.hasContent, said, this.token)
  }

  #read(frame: Json, isPlain: boolean, into: ModelChunk[]): boolean {
    const { choices: list, usage, x_groq, search_results, citations } = frame
    if (usage) mergeCounts(this.#counts, usage)
    if (x_groq) mergeCounts(this.#counts, asObject(x_groq)['usage'])
    if (this.#provider.traits.namesDeployments) this.#servedModel = asText(frame['model']) || this.#servedModel
    // Perplexity repeats the complete list in every frame.
    this.#pages = search_results ?? citations ?? this.#pages
    // Counts alone come last.
    if (usage && this.isEnding && asList(list).length === 0) this.isEndCertain = true
    if (!Array.isArray(list)) {
      if (objectIn(list)) throw new UnknownForm()
      return isObject(usage) && !strayError(frame)
    }
    if (list.length === 0) return !strayError(frame)
    const before = into.length
    const choices = isPlain && list.length === 1 && isObject(list[0]) ? (list as Json[]) : this.#choicesOf(list)
    let reason: string | undefined
    for (const choice of choices) {
      this.#readChoice(choice, isPlain, into)
      reason = reasonIn(choice) ?? reason
    }
    const hasNew = into.length > before
    if (hasNew && this.#finishReason !== undefined) this.#isRepeated = true
    if (reason !== undefined) {
      this.isEnding = !(hasNew && this.#isRepeated)
      this.isEndCertain = !hasNew && this.hasContent
    } else if (hasNew) this.isEnding = false
    this.#finishReason = reason ?? this.#finishReason
    if (hasNew || (reason !== undefined && this.hasContent)) return true
    const isError = reason !== undefined && strayError(frame) !== undefined
    return !isError && !choices.some(isStrange)
  }

  #choicesOf(list: readonly unknown[]): readonly Json[] {
    this.#choices ??= new Choices(this.#isOneOfMany)
    return this.#choices.of(list, this.#said, this.#finishReason !== undefined)
  }

  #readChoice(choice: Json, isPlain: boolean, into: ModelChunk[]): void {
    const { delta, text, usage, error } = choice
    if (usage) mergeCounts(this.#counts, usage)
    if (error && isFailure(error)) throw frameError(error, this.token)
    const message = isObject(choice['message']) ? choice['message'] : objectIn(choice['message'])
    const first = isPlain ? (message ?? objectIn(delta)) : objectIn(delta)
    if (first) this.#readMessage(first, isPlain, into)
    else if (!message && text !== undefined) this.#readMessage({ content: textIn(text) }, isPlain, into)
    if (!isPlain && message) this.#readSnapshot(message, into)
  }

  #readMessage(delta: Json, isWhole: boolean, into: ModelChunk[]): void {
    const { content, extra_content: extra, tool_calls, function_call } = delta
    const calls = tool_calls || function_call ? callsIn(tool_calls, function_call) : none
    const words = wordsOf(delta)
    let { text, thought } = words
    if (words.refusal !== '') this.#isRefused = true
    this.#hasDeltas ||= isWhole || text !== '' || thought !== '' || calls.length > 0
    if (extra !== undefined || this.#marks.state !== 'answer') {
      const split = splitThought(this.#marks, text, delta)
      text = split.text
      thought += split.thought
    }
    if (thought !== '') this.#think(addPiece(this.#reasoning, thought), into)
    if (delta['reasoning_details'] !== undefined) this.#sealed.push(...sealedThoughtsOf(delta))
    const piece = addPiece(this.#text, text)
    if (this.#isThinking && (piece !== '' || calls.length > 0)) this.#endThought(into)
    this.#said += text
    if (piece !== '') into.push({ type: 'text-delta', text: piece })
    if (delta['audio'] || delta['images'] || delta['annotations'] || (content && typeof content === 'object')) {
      addAttachments(this.#attached, delta, into)
    }
    if (calls.length > 0) this.#callParts().add(calls, isWhole, into)
    if (extra !== undefined) this.#calls?.sign(delta)
  }

  /** Reads a message in a stream. Beside deltas it completes them, and without deltas it takes their place. */
  #readSnapshot(message: Json, into: ModelChunk[]): void {
    const { text, thought } = wordsOf(message)
    const said = this.#said
    const isNext = text.length > said.length && text.startsWith(said)
    const { tool_calls, function_call, ...rest } = message
    let content = isNext ? text.slice(said.length) : ''
    if (!this.#hasDeltas && text !== '') {
      if (this.#messages === 'first' && text !== said) this.#messages = isNext ? 'whole' : 'pieces'
      this.#messages ??= 'first'
      if (this.#messages === 'pieces') content = text
    }
    const hadDeltas = this.#hasDeltas
    const isNewThought = thought !== '' && !this.#hasThought
    const more = isNewThought ? rest : { ...rest, reasoning: undefined, reasoning_content: undefined }
    this.#readMessage({ ...more, content }, false, into)
    this.#hasDeltas = hadDeltas
    const calls = callsIn(tool_calls, function_call)
    if (calls.length > 0) this.#callParts().complete(calls, into)
  }

  #callParts(): CallParts {
    this.#calls ??= new CallParts(this.token)
    return this.#calls
  }

  #think(text: string, into: ModelChunk[]): void {
    if (text === '') return
    into.push({ type: 'reasoning-delta', text })
    this.#isThinking = true
    this.#hasThought = true
  }

  #endThought(into: ModelChunk[]): void {
    const { traits, name: provider } = this.#provider
    if (traits.wantsReasoning) into.push({ type: 'reasoning-end', seal: { provider } })
    this.#isThinking = false
  }
}

const none: readonly Json[] = []

/** Returns encrypted reasoning of gateways such as OpenRouter. Later calls must send this reasoning unchanged. */
function sealedThoughtsOf({ reasoning_details }: Json): unknown[] {
  return asList(reasoning_details).filter((detail) => asObject(detail)['type'] === 'reasoning.encrypted')
}

const filtered =
  'content_filter safety recitation blocklist prohibited_content spii image_safety image_prohibited_content ' +
  'image_recitation'

/** Names are in lower case. `finishReasonOf` converts Google's names, which are in upper case. */
const reasons = new Map<string, FinishReason>([
  ...named('stop', 'stop end_turn eos'),
  ...named('length', 'length max_tokens model_length'),
  ...named('content-filter', filtered),
  ...named('tool-calls', 'tool_calls function_call'),
  // DeepSeek sends `insufficient_system_resource` if it aborts a response for lack of resources.
  ...named('error', 'error malformed_function_call insufficient_system_resource'),
])

function named(reason: FinishReason, names: string): [string, FinishReason][] {
  return names.split(' ').map((name) => [name, reason])
}

function finishReasonOf(reason: string | undefined): FinishReason {
  if (reason === undefined) return 'unknown'
  // Some services append details after a colon, for example the filter that matched.
  const [name = ''] = reason.toLowerCase().split(':', 1)
  return reasons.get(name) ?? 'other'
}

/** @param usage the merged counts of all frames. */
function chatUsage(usage: Json, { countsThoughtsInTotal }: KindTraits, servedModel: string): CountedUsage {
  const details = asObject(usage['prompt_tokens_details'])
  const input = asCount(usage['prompt_tokens']) ?? asCount(usage['input_tokens']) ?? 0
  const output = asCount(usage['completion_tokens']) ?? asCount(usage['output_tokens']) ?? 0
  // The tokens of the total that are neither input nor output. Some services report reasoning only in the total.
  const beside = Math.max(0, (asCount(usage['total_tokens']) ?? 0) - input - output)
  const reasoning =
    asCount(asObject(usage['completion_tokens_details'])['reasoning_tokens']) ??
    asCount(usage['reasoning_tokens']) ??
    (countsThoughtsInTotal ? beside : 0)
  const cachedInput =
    asCount(details['cached_tokens']) ??
    asCount(usage['prompt_cache_hit_tokens']) ??
    asCount(usage['num_cached_tokens']) ??
    asCount(usage['cached_tokens'])
  // xAI and Perplexity exclude reasoning from the completion tokens. Then only the total includes the reasoning, or the
  // reasoning exceeds the completion tokens.
  const isBeside = reasoning > output || (reasoning > 0 && beside === reasoning)
  const cacheWrite = asCount(details['cache_write_tokens'])
  const counts = { input, output: isBeside ? output + reasoning : output, reasoning, cachedInput, cacheWrite }
  return countedUsage(counts, servedModel)
}
