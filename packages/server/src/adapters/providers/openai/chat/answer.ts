import type { FinishReason, ModelChunk } from '../../../../features/providers/model-driver.ts'
import { addPiece, addSource, countedUsage, endPieces } from '../../answer/content.ts'
import { brokenInTheMiddle, uncarried } from '../../answer/failure.ts'
import type { AnswerReader } from '../../answer/stream.ts'
import { asList, asNumber, asObject, asText, type Json, parseAnswer, unreadable } from '../../json.ts'
import { keys } from '../../request/settings.ts'
import { frameError } from '../errors.ts'
import type { KindTraits } from '../kinds.ts'
import type { OpenaiService } from '../service.ts'
import { type Attachments, addAttachments } from './attachments.ts'
import { splitThought, type ThoughtMarks } from './thought-marks.ts'
import { addCalls, finishCalls, type PartialCall, signCalls } from './tool-calls.ts'

export class ChatReader implements AnswerReader {
  isDone = false
  readonly #provider: OpenaiService
  readonly #text = { held: '' }
  readonly #reasoning = { held: '' }
  readonly #marks: ThoughtMarks = { state: 'answer', held: '' }
  readonly #calls: PartialCall[] = []
  readonly #attached: Attachments = { images: new Set(), unknownType: undefined }
  #sealed: unknown[] = []
  #pages: unknown
  #hasText = false
  #hasCalls = false
  #isThinking = false
  #finishReason: string | undefined
  #usage = countedUsage({})
  #servedModel = ''

  constructor(provider: OpenaiService) {
    this.#provider = provider
  }

  readFrame(data: string, into: ModelChunk[]): void {
    if (data === '[DONE]') this.isDone = true
    else this.#read(parseAnswer(data), 'delta', into)
  }

  readPlain(answer: Json, into: ModelChunk[]): void {
    this.#read(answer, 'message', into)
    if (asList(answer['choices']).length === 0) throw unreadable()
    this.isDone = true
  }

  finish(into: ModelChunk[]): void {
    if (!this.isDone && this.#finishReason === undefined) throw brokenInTheMiddle()
    this.#flush(into)
    const { images, unknownType } = this.#attached
    const isEmpty = !this.#hasText && !this.#hasCalls && images.size === 0
    if (isEmpty && unknownType !== undefined) throw uncarried(unknownType)
    for (const page of asList(this.#pages)) addSource(page, into)
    const finishReason = finishReasonOf(this.#finishReason, this.#hasCalls)
    const served = this.#servedModel === '' ? {} : { servedModel: this.#servedModel }
    into.push({ type: 'finish', finishReason, ...this.#usage, ...served })
  }

  #read(frame: Json, key: 'delta' | 'message', into: ModelChunk[]): void {
    const { traits, token } = this.#provider
    const failure = failureIn(frame)
    if (failure !== undefined && failure !== null) throw frameError(failure, token, frame)
    const choice = firstChoice(frame['choices'])
    const counts = frame['usage'] ?? (frame['x_groq'] && asObject(frame['x_groq'])['usage']) ?? choice['usage']
    if (typeof counts === 'object' && counts !== null) this.#usage = chatUsage(counts, traits)
    if (traits.namesDeployments) this.#servedModel = asText(frame['model']) || this.#servedModel
    // Perplexity repeats the complete list in every frame.
    this.#pages = frame['search_results'] ?? frame['citations'] ?? this.#pages
    const delta = asObject(choice[key])
    const { extra_content: extra, tool_calls: calls } = delta
    let { text, thought } = wordsOf(delta)
    if (extra !== undefined || this.#marks.state !== 'answer') {
      const split = splitThought(this.#marks, text, delta)
      text = split.text
      thought += split.thought
    }
    if (thought !== '') this.#think(addPiece(this.#reasoning, thought), into)
    if (delta['reasoning_details'] !== undefined) this.#sealed.push(...sealedThoughtsOf(delta))
    const piece = addPiece(this.#text, text)
    if (this.#isThinking && (piece !== '' || calls !== undefined)) this.#endThought(into)
    this.#say(piece, into)
    if (delta['audio'] || delta['images'] || delta['annotations'] || Array.isArray(delta['content'])) {
      addAttachments(this.#attached, delta, into)
    }
    if (calls !== undefined) addCalls(this.#calls, calls, key === 'message', into)
    if (extra !== undefined) signCalls(this.#calls, delta)
    if (typeof choice['finish_reason'] !== 'string') return
    this.#finishReason = choice['finish_reason']
    this.#flush(into)
  }

  #flush(into: ModelChunk[]): void {
    if (this.#marks.held !== '') this.#think(this.#marks.held, into)
    this.#marks.held = ''
    if (this.#isThinking) this.#endThought(into)
    if (this.#text.held !== '') this.#say(endPieces(this.#text), into)
    const { name: provider } = this.#provider
    if (this.#sealed.length > 0) {
      into.push({ type: 'reasoning-end', seal: { signature: JSON.stringify(this.#sealed), provider } })
      this.#sealed = []
    }
    if (this.#calls.length === 0) return
    this.#hasCalls = true
    finishCalls(this.#calls, provider, into)
  }

  #say(text: string, into: ModelChunk[]): void {
    if (text === '') return
    into.push({ type: 'text-delta', text })
    this.#hasText = true
  }

  #think(text: string, into: ModelChunk[]): void {
    if (text === '') return
    into.push({ type: 'reasoning-delta', text })
    this.#isThinking = true
  }

  #endThought(into: ModelChunk[]): void {
    const { traits, name: provider } = this.#provider
    if (traits.wantsReasoning) into.push({ type: 'reasoning-end', seal: { provider } })
    this.#isThinking = false
  }
}

/** Services report errors under `error`, as the frame itself (Mistral), or under `x_groq` (Groq). */
function failureIn(frame: Json): unknown {
  if (frame['object'] === 'error') return frame['error'] ?? frame
  return frame['error'] ?? (frame['x_groq'] && asObject(frame['x_groq'])['error'])
}

/** With `n` above 1, a service returns several choices. Only the choice with index 0 is used. */
function firstChoice(choices: unknown): Json {
  for (const choice of asList(choices).map(asObject)) if ((choice['index'] ?? 0) === 0) return choice
  return {}
}

function wordsOf({ content, refusal, reasoning_content, reasoning }: Json): { text: string; thought: string } {
  // Some services send the same reasoning under both names.
  const thought = asText(reasoning_content) || asText(reasoning)
  if (!Array.isArray(content)) return { text: asText(content) || asText(refusal), thought }
  // Mistral sends lists of parts, some of which are reasoning.
  const thoughts = content
    .map((part) => asObject(part)['thinking'])
    .map((thinking) => asText(thinking) || textsOf(asList(thinking)))
  return { text: textsOf(content) || asText(refusal), thought: thought || thoughts.join('') }
}

/** Returns encrypted reasoning of gateways such as OpenRouter. Later calls must send this reasoning unchanged. */
function sealedThoughtsOf({ reasoning_details }: Json): unknown[] {
  return asList(reasoning_details).filter((detail) => asObject(detail)['type'] === 'reasoning.encrypted')
}

function textsOf(parts: readonly unknown[]): string {
  return parts
    .map(asObject)
    .map((part) => (part['type'] === 'text' ? asText(part['text']) : ''))
    .join('')
}

const filtered =
  'content_filter safety recitation blocklist prohibited_content spii image_safety image_prohibited_content ' +
  'image_recitation'

/** Names are in lower case. `finishReasonOf` converts Google's names, which are in upper case. */
const reasons: readonly (readonly [FinishReason, ReadonlySet<string>])[] = [
  ['stop', keys('stop end_turn eos')],
  ['length', keys('length max_tokens model_length')],
  ['content-filter', keys(filtered)],
  ['tool-calls', keys('tool_calls function_call')],
  // DeepSeek sends `insufficient_system_resource` if it aborts a response for lack of resources.
  ['error', keys('error malformed_function_call insufficient_system_resource')],
]

/** Several services report `stop` although the model called tools. */
function finishReasonOf(reason: string | undefined, hasCalls: boolean): FinishReason {
  // Some services append details after a colon, for example the filter that matched.
  const [name = ''] = reason?.toLowerCase().split(':', 1) ?? []
  const known = reason === undefined ? 'unknown' : (reasons.find(([, names]) => names.has(name))?.[0] ?? 'other')
  return hasCalls && (known === 'stop' || known === 'unknown') ? 'tool-calls' : known
}

function chatUsage(value: unknown, { countsThoughtsInTotal }: KindTraits) {
  const usage = asObject(value)
  const details = asObject(usage['prompt_tokens_details'])
  const input = asNumber(usage['prompt_tokens']) ?? 0
  const output = asNumber(usage['completion_tokens']) ?? 0
  // The tokens of the total that are neither input nor output. Some services report reasoning only in the total.
  const beside = Math.max(0, (asNumber(usage['total_tokens']) ?? 0) - input - output)
  const reasoning =
    asNumber(asObject(usage['completion_tokens_details'])['reasoning_tokens']) ??
    asNumber(usage['reasoning_tokens']) ??
    (countsThoughtsInTotal ? beside : 0)
  const cachedInput =
    asNumber(details['cached_tokens']) ??
    asNumber(usage['prompt_cache_hit_tokens']) ??
    asNumber(usage['num_cached_tokens']) ??
    asNumber(usage['cached_tokens'])
  // xAI and Perplexity exclude reasoning from the completion tokens. Then only the total includes the reasoning, or the
  // reasoning exceeds the completion tokens.
  const isBeside = reasoning > output || (reasoning > 0 && beside === reasoning)
  const cacheWrite = asNumber(details['cache_write_tokens'])
  return countedUsage({ input, output: isBeside ? output + reasoning : output, reasoning, cachedInput, cacheWrite })
}
