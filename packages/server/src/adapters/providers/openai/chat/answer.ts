/** Converts frames of a streamed response, or one plain response, to stet's chunks. */
import type { ModelChunk } from '../../../../features/providers/model-driver.ts'
import { brokenInTheMiddle, type ChunkReader, parseAnswer, uncarried, unreadable } from '../../answer/chunk-reader.ts'
import { addSource, type CountedUsage, countedUsage } from '../../answer/content.ts'
import { wellFormedText } from '../../answer/well-formed-text.ts'
import { asObject, asText } from '../../json.ts'
import { frameError } from '../errors.ts'
import type { OpenaiService } from '../service.ts'
import { attachments } from './attachments.ts'
import { chatUsage, finishReasonOf, sealedThoughtsOf, spokenOf, thoughtOf } from './delta.ts'
import { thoughtMarks } from './thought-marks.ts'
import { toolCallAssembly } from './tool-calls.ts'

type Json = Record<string, unknown>

export function chunkReader(provider: OpenaiService): ChunkReader {
  const answer = answerReader(provider)
  let isDone = false
  return {
    readFrame(data, into) {
      if (data === '[DONE]') {
        isDone = true
        return
      }
      const frame = parseAnswer(data)
      refuseFailure(frame, provider)
      answer.read(frame, 'delta', into)
    },
    isDone() {
      return isDone
    },
    finish: (into) => answer.finish(isDone, into),
  }
}

/** @throws ProviderError for a body that is not a chat completion. */
export function plainChunks(body: string, provider: OpenaiService): ModelChunk[] {
  const parsed = parseAnswer(body)
  refuseFailure(parsed, provider)
  if (!Array.isArray(parsed['choices']) || parsed['choices'].length === 0) throw unreadable()
  const chunks: ModelChunk[] = []
  const answer = answerReader(provider)
  answer.read(parsed, 'message', chunks)
  answer.finish(true, chunks)
  return chunks
}

/**
 * Services report errors within a response under `error`, as the frame itself (Mistral), or beside other data (Groq).
 */
function refuseFailure(frame: Json, { token }: OpenaiService): void {
  const own = frame['object'] === 'error' ? frame : undefined
  const failure = frame['error'] ?? own ?? (frame['x_groq'] && asObject(frame['x_groq'])['error'])
  if (failure !== undefined && failure !== null) throw frameError(failure, token, frame)
}

function answerReader(provider: OpenaiService) {
  const traits = provider.traits
  const calls = toolCallAssembly(provider.name)
  const text = wellFormedText()
  const reasoning = wellFormedText()
  const marks = thoughtMarks()
  const attached = attachments()
  let finishReason: string | undefined
  let hasCalls = false
  let hasText = false
  let usage: CountedUsage | undefined
  const keepsThoughts = traits.wantsReasoning === true
  const sealed: unknown[] = []
  let isThinking = false
  let pages: unknown
  let servedModel = ''

  const endThought = (into: ModelChunk[]) => {
    if (isThinking && keepsThoughts) into.push({ type: 'reasoning-end', seal: { provider: provider.name } })
    isThinking = false
  }
  const sealThoughts = (into: ModelChunk[]) => {
    const thoughts = sealed.splice(0)
    if (thoughts.length === 0) return
    into.push({ type: 'reasoning-end', seal: { signature: JSON.stringify(thoughts), provider: provider.name } })
  }
  const think = (thought: string, into: ModelChunk[]) => {
    if (thought !== '') into.push({ type: 'reasoning-delta', text: thought })
    isThinking ||= thought !== ''
  }
  const say = (piece: string, into: ModelChunk[]) => {
    if (piece !== '') into.push({ type: 'text-delta', text: piece })
    hasText ||= piece !== ''
  }
  const flush = (into: ModelChunk[]) => {
    think(marks.end(), into)
    endThought(into)
    say(text.end(), into)
    sealThoughts(into)
    hasCalls ||= !calls.isEmpty()
    calls.finish(into)
  }
  return {
    read(frame: Json, key: 'delta' | 'message', into: ModelChunk[]): void {
      const choice = firstChoice(frame['choices'])
      const counts = frame['usage'] ?? (frame['x_groq'] && asObject(frame['x_groq'])['usage']) ?? choice['usage']
      if (typeof counts === 'object' && counts !== null) usage = chatUsage(counts, traits)
      if (traits.namesDeployments) servedModel = asText(frame['model']) || servedModel
      // Perplexity repeats the whole list in every frame.
      pages = frame['search_results'] ?? frame['citations'] ?? pages
      const delta = asObject(choice[key])
      const said = marks.split(spokenOf(delta), delta)
      think(reasoning.add(thoughtOf(delta) + said.thought), into)
      if (delta['reasoning_details'] !== undefined) sealed.push(...sealedThoughtsOf(delta))
      const piece = text.add(said.text)
      if (piece !== '' || delta['tool_calls'] !== undefined) endThought(into)
      say(piece, into)
      attached.add(delta, into)
      if (delta['tool_calls'] !== undefined) calls.add(delta['tool_calls'], key === 'message', into)
      if (delta['extra_content'] !== undefined) calls.sign(delta)
      if (typeof choice['finish_reason'] === 'string') {
        finishReason = choice['finish_reason']
        flush(into)
      }
    },
    finish(isEndMarked: boolean, into: ModelChunk[]): void {
      if (!isEndMarked && finishReason === undefined) throw brokenInTheMiddle()
      flush(into)
      const isEmpty = !hasText && !hasCalls && !attached.hasFiles()
      const unknownType = attached.unknownType()
      if (isEmpty && unknownType !== undefined) throw uncarried(unknownType)
      for (const page of Array.isArray(pages) ? pages : []) addSource(page, into)
      const served = servedModel === '' ? {} : { servedModel }
      const counted = usage ?? countedUsage({})
      into.push({ type: 'finish', finishReason: finishReasonOf(finishReason, hasCalls), ...counted, ...served })
    },
  }
}

/** With `n` above 1 a service returns several choices. The first one counts. */
function firstChoice(choices: unknown): Json {
  if (!Array.isArray(choices)) return {}
  return asObject(choices.find((choice) => (asObject(choice)['index'] ?? 0) === 0))
}
