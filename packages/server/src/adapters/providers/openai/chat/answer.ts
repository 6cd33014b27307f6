import type { FinishReason, ModelChunk } from '../../../../features/providers/model-driver.ts'
import {
  addPiece,
  addSource,
  type CountedUsage,
  countedUsage,
  endPieces,
  type PiecedText,
} from '../../answer/content.ts'
import { brokenInTheMiddle, uncarried } from '../../answer/failure.ts'
import type { ChunkReader } from '../../answer/stream.ts'
import { asNumber, asObject, asText, parseAnswer, unreadable } from '../../json.ts'
import { frameError } from '../errors.ts'
import type { KindTraits } from '../kinds.ts'
import type { OpenaiService } from '../service.ts'
import { type Attachments, addAttachments } from './attachments.ts'
import { splitThought, type ThoughtMarks } from './thought-marks.ts'
import { addCalls, finishCalls, type PartialCall, signCalls } from './tool-calls.ts'

type Json = Record<string, unknown>

interface ChatAnswer {
  provider: OpenaiService
  text: PiecedText
  reasoning: PiecedText
  marks: ThoughtMarks
  calls: PartialCall[]
  attached: Attachments
  sealed: unknown[]
  pages: unknown
  hasText: boolean
  hasCalls: boolean
  isThinking: boolean
  finishReason: string | undefined
  usage: CountedUsage | undefined
  servedModel: string
}

export function chunkReader(provider: OpenaiService): ChunkReader {
  const answer = newAnswer(provider)
  let isDone = false
  return {
    readFrame(data, into) {
      if (data === '[DONE]') {
        isDone = true
        return
      }
      const frame = parseAnswer(data)
      refuseFailure(frame, provider)
      read(answer, frame, 'delta', into)
    },
    isDone() {
      return isDone
    },
    finish(into) {
      if (!isDone && answer.finishReason === undefined) throw brokenInTheMiddle()
      finish(answer, into)
    },
  }
}

export function plainChunks(body: string, provider: OpenaiService): ModelChunk[] {
  const parsed = parseAnswer(body)
  refuseFailure(parsed, provider)
  if (!Array.isArray(parsed['choices']) || parsed['choices'].length === 0) throw unreadable()
  const chunks: ModelChunk[] = []
  const answer = newAnswer(provider)
  read(answer, parsed, 'message', chunks)
  finish(answer, chunks)
  return chunks
}

/** Services report errors under `error`, as the frame itself (Mistral), or beside other data (Groq). */
function refuseFailure(frame: Json, { token }: OpenaiService): void {
  const own = frame['object'] === 'error' ? frame : undefined
  const failure = frame['error'] ?? own ?? (frame['x_groq'] && asObject(frame['x_groq'])['error'])
  if (failure !== undefined && failure !== null) throw frameError(failure, token, frame)
}

function newAnswer(provider: OpenaiService): ChatAnswer {
  return {
    provider,
    text: { held: '' },
    reasoning: { held: '' },
    marks: { state: 'answer', held: '' },
    calls: [],
    attached: { images: new Set(), unknownType: undefined },
    sealed: [],
    pages: undefined,
    hasText: false,
    hasCalls: false,
    isThinking: false,
    finishReason: undefined,
    usage: undefined,
    servedModel: '',
  }
}

function read(answer: ChatAnswer, frame: Json, key: 'delta' | 'message', into: ModelChunk[]): void {
  const { traits } = answer.provider
  const choice = firstChoice(frame['choices'])
  const counts = frame['usage'] ?? (frame['x_groq'] && asObject(frame['x_groq'])['usage']) ?? choice['usage']
  if (typeof counts === 'object' && counts !== null) answer.usage = chatUsage(counts, traits)
  if (traits.namesDeployments) answer.servedModel = asText(frame['model']) || answer.servedModel
  // Perplexity repeats the complete list in every frame.
  answer.pages = frame['search_results'] ?? frame['citations'] ?? answer.pages
  const delta = asObject(choice[key])
  const { extra_content: extra, tool_calls: calls } = delta
  let { text, thought } = wordsOf(delta)
  if (extra !== undefined || answer.marks.state !== 'answer') {
    const split = splitThought(answer.marks, text, delta)
    text = split.text
    thought += split.thought
  }
  if (thought !== '') think(answer, addPiece(answer.reasoning, thought), into)
  if (delta['reasoning_details'] !== undefined) answer.sealed.push(...sealedThoughtsOf(delta))
  const piece = addPiece(answer.text, text)
  if (answer.isThinking && (piece !== '' || calls !== undefined)) endThought(answer, into)
  if (piece !== '') into.push({ type: 'text-delta', text: piece })
  answer.hasText ||= piece !== ''
  if (delta['audio'] || delta['images'] || delta['annotations'] || Array.isArray(delta['content'])) {
    addAttachments(answer.attached, delta, into)
  }
  if (calls !== undefined) addCalls(answer.calls, calls, key === 'message', into)
  if (extra !== undefined) signCalls(answer.calls, delta)
  if (typeof choice['finish_reason'] !== 'string') return
  answer.finishReason = choice['finish_reason']
  flush(answer, into)
}

function finish(answer: ChatAnswer, into: ModelChunk[]): void {
  flush(answer, into)
  const { attached, hasCalls, hasText, pages, servedModel } = answer
  const isEmpty = !hasText && !hasCalls && attached.images.size === 0
  if (isEmpty && attached.unknownType !== undefined) throw uncarried(attached.unknownType)
  if (Array.isArray(pages)) for (const page of pages) addSource(page, into)
  const served = servedModel === '' ? {} : { servedModel }
  const counted = answer.usage ?? countedUsage({})
  into.push({ type: 'finish', finishReason: finishReasonOf(answer.finishReason, hasCalls), ...counted, ...served })
}

function flush(answer: ChatAnswer, into: ModelChunk[]): void {
  if (answer.marks.held !== '') think(answer, answer.marks.held, into)
  answer.marks.held = ''
  if (answer.isThinking) endThought(answer, into)
  if (answer.text.held !== '') {
    into.push({ type: 'text-delta', text: endPieces(answer.text) })
    answer.hasText = true
  }
  const sealed = answer.sealed.splice(0)
  if (sealed.length > 0) {
    const seal = { signature: JSON.stringify(sealed), provider: answer.provider.name }
    into.push({ type: 'reasoning-end', seal })
  }
  if (answer.calls.length === 0) return
  answer.hasCalls = true
  finishCalls(answer.calls, answer.provider.name, into)
}

function think(answer: ChatAnswer, text: string, into: ModelChunk[]): void {
  if (text === '') return
  into.push({ type: 'reasoning-delta', text })
  answer.isThinking = true
}

function endThought(answer: ChatAnswer, into: ModelChunk[]): void {
  const { traits, name } = answer.provider
  if (traits.wantsReasoning) into.push({ type: 'reasoning-end', seal: { provider: name } })
  answer.isThinking = false
}

/** With `n` above 1 a service returns several choices. Only the first one is used. */
function firstChoice(choices: unknown): Json {
  for (const choice of Array.isArray(choices) ? choices.map(asObject) : []) {
    if ((choice['index'] ?? 0) === 0) return choice
  }
  return {}
}

function wordsOf({ content, refusal, reasoning_content, reasoning }: Json): { text: string; thought: string } {
  // Some services send the same reasoning under both names.
  const thought = asText(reasoning_content) || asText(reasoning)
  if (!Array.isArray(content)) return { text: asText(content) || asText(refusal), thought }
  // Mistral sends lists of parts, some of which are reasoning.
  const thoughts = content
    .map((part) => asObject(part)['thinking'])
    .map((thinking) => (Array.isArray(thinking) ? textsOf(thinking) : asText(thinking)))
  return { text: textsOf(content) || asText(refusal), thought: thought || thoughts.join('') }
}

/** Encrypted reasoning from gateways such as OpenRouter, which must be sent back unchanged. */
function sealedThoughtsOf({ reasoning_details }: Json): unknown[] {
  const details = Array.isArray(reasoning_details) ? reasoning_details : []
  return details.filter((detail) => asObject(detail)['type'] === 'reasoning.encrypted')
}

function textsOf(parts: readonly unknown[]): string {
  return parts
    .map(asObject)
    .map((part) => (part['type'] === 'text' ? asText(part['text']) : ''))
    .join('')
}

/** Lower case, because Google returns its own protocol's names in upper case. */
const reasons = new Map<string, FinishReason>([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['eos', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content-filter'],
  ['safety', 'content-filter'],
  ['recitation', 'content-filter'],
  ['blocklist', 'content-filter'],
  ['prohibited_content', 'content-filter'],
  ['spii', 'content-filter'],
  ['image_safety', 'content-filter'],
  ['image_prohibited_content', 'content-filter'],
  ['image_recitation', 'content-filter'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['error', 'error'],
  ['malformed_function_call', 'error'],
  // DeepSeek aborted the response.
  ['insufficient_system_resource', 'error'],
])

/** Several services report `stop` although the model called tools. */
function finishReasonOf(reason: string | undefined, hasCalls: boolean): FinishReason {
  // Some services append details after a colon, for example the filter that matched.
  const [name = ''] = reason?.toLowerCase().split(':', 1) ?? []
  const known = reason === undefined ? 'unknown' : (reasons.get(name) ?? 'other')
  return hasCalls && (known === 'stop' || known === 'unknown') ? 'tool-calls' : known
}

function chatUsage(value: unknown, { countsThoughtsInTotal }: KindTraits): CountedUsage {
  const usage = asObject(value)
  const details = asObject(usage['prompt_tokens_details'])
  const input = asNumber(usage['prompt_tokens']) ?? 0
  const output = asNumber(usage['completion_tokens']) ?? 0
  // The share of the total beyond input and output. Some services report reasoning only there.
  const beside = Math.max(0, (asNumber(usage['total_tokens']) ?? 0) - input - output)
  const reasoning =
    asNumber(asObject(usage['completion_tokens_details'])['reasoning_tokens']) ??
    asNumber(usage['reasoning_tokens']) ??
    (countsThoughtsInTotal ? beside : 0)
  const cachedInput =
    asNumber(details['cached_tokens']) ??
    asNumber(usage['prompt_cache_hit_tokens']) ??
    asNumber(usage['num_cached_tokens']) ??
    asNumber(usage['cached_tokens']) ??
    0
  // xAI and Perplexity exclude reasoning from completion tokens: it is in the total, or exceeds the completion.
  const isBeside = reasoning > output || (reasoning > 0 && beside === reasoning)
  const cacheWrite = asNumber(details['cache_write_tokens']) ?? 0
  return countedUsage({ input, output: isBeside ? output + reasoning : output, reasoning, cachedInput, cacheWrite })
}
