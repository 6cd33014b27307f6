import type { FinishReason, ModelChunk } from '../../../../features/providers/model-driver.ts'
import { addPiece, addSource, type CountedUsage, countedUsage, endPieces, wholeText } from '../../answer/content.ts'
import { brokenInTheMiddle, uncarried } from '../../answer/failure.ts'
import type { ChunkReader } from '../../answer/stream.ts'
import { asNumber, asObject, asText, parseAnswer, unreadable } from '../../json.ts'
import { frameError } from '../errors.ts'
import type { OpenaiService } from '../service.ts'
import { addArguments, beginItem, endItem, newOutputItems, type OutputItems } from './output-items.ts'

/** The final frame repeats the complete response. Only its status, usage and model are read. */
export function responseReader(provider: OpenaiService): ChunkReader {
  const { token } = provider
  const items = newOutputItems(provider.name)
  const text = { held: '' }
  const reasoning = { held: '' }
  let end: ModelChunk | undefined

  const say = (piece: string, into: ModelChunk[]) => {
    if (piece !== '') into.push({ type: 'text-delta', text: piece })
  }
  const think = (piece: string, id: string, into: ModelChunk[]) => {
    const shown = addPiece(reasoning, piece)
    if (shown !== '') into.push({ type: 'reasoning-delta', text: shown, ...(id === '' ? {} : { id }) })
  }
  return {
    readFrame(data, into) {
      if (data === '[DONE]') return
      const frame = parseAnswer(data)
      const delta = asText(frame['delta'])
      const id = asText(frame['item_id'])
      switch (frame['type']) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          return say(addPiece(text, delta), into)
        case 'response.reasoning_summary_part.added':
          return Number(frame['summary_index']) > 0 ? think('\n\n', id, into) : undefined
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return think(delta, id, into)
        case 'response.output_text.annotation.added':
          return addSource(frame['annotation'], into)
        case 'response.output_item.added':
          return beginItem(items, asObject(frame['item']), into)
        case 'response.function_call_arguments.delta':
          return addArguments(items, id, delta, into)
        case 'response.output_item.done':
          return endItem(items, asObject(frame['item']), into)
        case 'response.completed':
        case 'response.incomplete':
          say(endPieces(text), into)
          end = endOf(asObject(frame['response']), items, provider)
          return
        case 'response.failed':
          throw frameError(asObject(frame['response'])['error'], token)
        case 'error':
          throw frameError(frame['error'] ?? frame, token)
      }
    },
    isDone() {
      return end !== undefined
    },
    finish(into) {
      if (!end) throw brokenInTheMiddle()
      into.push(end)
    },
  }
}

/** @throws ProviderError if the body is not a response, or the response failed. */
export function plainResponse(body: string, provider: OpenaiService): ModelChunk[] {
  const response = parseAnswer(body)
  if (response['error'] !== undefined && response['error'] !== null) throw frameError(response['error'], provider.token)
  if (!Array.isArray(response['output'])) throw unreadable()
  const chunks: ModelChunk[] = []
  const items = newOutputItems(provider.name)
  for (const item of response['output'].map(asObject)) {
    if (item['type'] === 'message') readMessage(item, chunks)
    if (item['type'] === 'reasoning') readThought(item, chunks)
    if (item['type'] === 'function_call') {
      beginItem(items, item, chunks)
      addArguments(items, asText(item['id']), asText(item['arguments']), chunks)
    }
    endItem(items, item, chunks)
  }
  return [...chunks, endOf(response, items, provider)]
}

/** @throws ProviderError `uncarried` if a complete response has no content that stet can represent. */
function endOf(response: Record<string, unknown>, items: OutputItems, { traits }: OpenaiService): ModelChunk {
  const { hasCalls, hasContent, ignoredType } = items
  const isEmpty = !hasCalls && !hasContent && response['status'] === 'completed'
  if (isEmpty && ignoredType !== undefined) throw uncarried(ignoredType)
  const servedModel = traits.namesDeployments ? asText(response['model']) : ''
  return {
    type: 'finish',
    finishReason: reasonOf(response, hasCalls),
    ...responseUsage(response['usage']),
    ...(servedModel === '' ? {} : { servedModel }),
  }
}

function readMessage(item: Record<string, unknown>, into: ModelChunk[]): void {
  for (const part of listOf(item['content'])) {
    const text = wholeText(asText(part['text']) || asText(part['refusal']))
    if (text !== '') into.push({ type: 'text-delta', text })
    for (const annotation of listOf(part['annotations'])) addSource(annotation, into)
  }
}

function readThought(item: Record<string, unknown>, into: ModelChunk[]): void {
  const said = [...listOf(item['summary']), ...listOf(item['content'])].map((part) => asText(part['text'])).join('\n\n')
  const text = wholeText(said)
  if (text !== '') into.push({ type: 'reasoning-delta', text, id: asText(item['id']) })
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(asObject) : []
}

function reasonOf(response: Record<string, unknown>, hasCalls: boolean): FinishReason {
  const { reason } = asObject(response['incomplete_details'])
  if (reason === 'max_output_tokens' || reason === 'max_tokens') return 'length'
  if (reason === 'content_filter') return 'content-filter'
  if (response['status'] === 'incomplete') return 'other'
  return hasCalls ? 'tool-calls' : 'stop'
}

function responseUsage(value: unknown): CountedUsage {
  const usage = asObject(value)
  const details = asObject(usage['input_tokens_details'])
  return countedUsage({
    input: asNumber(usage['input_tokens']) ?? 0,
    output: asNumber(usage['output_tokens']) ?? 0,
    reasoning: asNumber(asObject(usage['output_tokens_details'])['reasoning_tokens']) ?? 0,
    cachedInput: asNumber(details['cached_tokens']) ?? 0,
    cacheWrite: asNumber(details['cache_write_tokens']) ?? 0,
  })
}
