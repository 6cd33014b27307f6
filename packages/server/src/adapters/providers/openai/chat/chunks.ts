/** Frames of a streamed answer, or one plain answer, as chunks of stet. */
import type { FinishReason, ModelChunk, ResolvedProvider } from '../../../../features/providers/model-driver.ts'
import { brokenInTheMiddle, type ChunkReader, parseAnswer, unreadable } from '../../answer/chunk-reader.ts'
import { asObject, asText } from '../../answer/json.ts'
import { addSource } from '../../answer/source.ts'
import { type CountedUsage, countedUsage } from '../../answer/usage.ts'
import { wellFormedText } from '../../answer/well-formed-text.ts'
import { frameError } from '../errors.ts'
import { traitsOf } from '../kinds.ts'
import { toolCallAssembly } from './tools.ts'
import { chatUsage } from './usage.ts'

export function chunkReader(provider: ResolvedProvider): ChunkReader {
  const { token } = provider
  const answer = answerReader(provider)
  let isDone = false
  return {
    readFrame(data, into) {
      if (data === '[DONE]') {
        isDone = true
        return
      }
      const frame = parseAnswer(data)
      if (frame['error'] !== undefined && frame['error'] !== null) throw frameError(frame['error'], token)
      answer.read(frame, 'delta', into)
    },
    get isDone() {
      return isDone
    },
    finish: (into) => answer.finish(isDone, into),
  }
}

/** @throws ProviderError for a body that is no chat completion. */
export function plainChunks(body: string, provider: ResolvedProvider): ModelChunk[] {
  const { token } = provider
  const parsed = parseAnswer(body)
  if (parsed['error'] !== undefined && parsed['error'] !== null) throw frameError(parsed['error'], token)
  if (!Array.isArray(parsed['choices']) || parsed['choices'].length === 0) throw unreadable()
  const chunks: ModelChunk[] = []
  const answer = answerReader(provider)
  answer.read(parsed, 'message', chunks)
  answer.finish(true, chunks)
  return chunks
}

function answerReader(provider: ResolvedProvider) {
  const calls = toolCallAssembly(provider.name)
  const text = wellFormedText()
  const reasoning = wellFormedText()
  let finishReason: string | undefined
  let hasCalls = false
  let usage: CountedUsage | undefined
  const keepsThoughts = traitsOf(provider).wantsReasoning === true
  let isThinking = false
  let pages: unknown

  const endThought = (into: ModelChunk[]) => {
    if (isThinking && keepsThoughts) into.push({ type: 'reasoning-end', seal: { provider: provider.name } })
    isThinking = false
  }
  const flush = (into: ModelChunk[]) => {
    endThought(into)
    const rest = text.end()
    if (rest !== '') into.push({ type: 'text-delta', text: rest })
    hasCalls ||= !calls.isEmpty
    calls.finish(into)
  }
  return {
    read(frame: Record<string, unknown>, key: 'delta' | 'message', into: ModelChunk[]): void {
      if (typeof frame['usage'] === 'object' && frame['usage'] !== null) usage = chatUsage(frame['usage'])
      // Perplexity repeats the whole list in every frame.
      pages = frame['search_results'] ?? pages
      const choice = firstChoice(frame['choices'])
      const delta = asObject(choice[key])
      const thought = reasoning.add(thoughtOf(delta))
      if (thought !== '') into.push({ type: 'reasoning-delta', text: thought })
      isThinking ||= thought !== ''
      const piece = text.add(spokenOf(delta))
      if (piece !== '' || delta['tool_calls'] !== undefined) endThought(into)
      if (piece !== '') into.push({ type: 'text-delta', text: piece })
      if (delta['tool_calls'] !== undefined) calls.add(delta['tool_calls'], into)
      if (typeof choice['finish_reason'] === 'string') {
        finishReason = choice['finish_reason']
        flush(into)
      }
    },
    finish(isEndMarked: boolean, into: ModelChunk[]): void {
      if (!isEndMarked && finishReason === undefined) throw brokenInTheMiddle()
      flush(into)
      for (const page of Array.isArray(pages) ? pages : []) addSource(page, into)
      into.push({ type: 'finish', finishReason: reasonOf(finishReason, hasCalls), ...(usage ?? countedUsage({})) })
    },
  }
}

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  end_turn: 'stop',
  eos: 'stop',
  length: 'length',
  model_length: 'length',
  content_filter: 'content-filter',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  error: 'error',
}

// Several services say `stop` although they call tools.
function reasonOf(reason: string | undefined, hasCalls: boolean): FinishReason {
  const known =
    reason === undefined ? 'unknown' : Object.hasOwn(reasons, reason) ? (reasons[reason] ?? 'other') : 'other'
  return hasCalls && (known === 'stop' || known === 'unknown') ? 'tool-calls' : known
}

/** With `n` above 1 a service answers several times; the first answer counts. */
function firstChoice(choices: unknown): Record<string, unknown> {
  if (!Array.isArray(choices)) return {}
  return asObject(choices.find((choice) => (asObject(choice)['index'] ?? 0) === 0))
}

/** Answer text, refusals included: what the model said is never swallowed. Mistral sends lists of parts. */
function spokenOf({ content, refusal }: Record<string, unknown>): string {
  const text = Array.isArray(content) ? textsOf(content, 'text') : asText(content)
  return text === '' ? asText(refusal) : text
}

// Some services send the same thought under both names.
function thoughtOf({ reasoning_content, reasoning, content }: Record<string, unknown>): string {
  const text = asText(reasoning_content) || asText(reasoning)
  if (text !== '' || !Array.isArray(content)) return text
  return content
    .map((part) => asObject(part)['thinking'])
    .map((thinking) => (Array.isArray(thinking) ? textsOf(thinking, 'text') : asText(thinking)))
    .join('')
}

function textsOf(parts: readonly unknown[], type: string): string {
  return parts
    .map(asObject)
    .map((part) => (part['type'] === type ? asText(part['text']) : ''))
    .join('')
}
