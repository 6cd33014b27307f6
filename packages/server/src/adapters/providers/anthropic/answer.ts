import type { FinishReason, ModelChunk, ProviderSettings } from '../../../features/providers/model-driver.ts'
import type { ProviderError } from '../../../features/providers/provider-error.ts'
import { type CountedUsage, countedUsage } from '../answer/content.ts'
import { brokenInTheMiddle, brokenOff } from '../answer/failure.ts'
import type { ChunkReader } from '../answer/stream.ts'
import { asNumber, asObject, asText, parseAnswer, unreadable } from '../json.ts'
import { beginBlock, endBlock, endBlocks, growBlock, newBlocks } from './block-reader.ts'

type Json = Record<string, unknown>

/** @param schema for a structured answer, which arrives as tool input and is returned as text. */
export function messageReader(provider: ProviderSettings, schema: Json | undefined): ChunkReader {
  const blocks = newBlocks(provider, schema)
  const usages: unknown[] = []
  let reason = ''
  let isDone = false
  return {
    readFrame(data, into) {
      const frame = parseAnswer(data)
      const index = Number(frame['index'] ?? 0)
      switch (frame['type']) {
        case 'message_start':
          usages.push(asObject(frame['message'])['usage'])
          return
        case 'content_block_start':
          return beginBlock(blocks, index, asObject(frame['content_block']), into)
        case 'content_block_delta':
          return growBlock(blocks, index, asObject(frame['delta']), into)
        case 'content_block_stop':
          return endBlock(blocks, index, into)
        case 'message_delta':
          usages.push(frame['usage'])
          reason = asText(asObject(frame['delta'])['stop_reason']) || reason
          return
        case 'message_stop':
          isDone = true
          return
        case 'error':
          throw anthropicFrameError(frame['error'], provider.token)
      }
    },
    isDone() {
      return isDone
    },
    finish(into) {
      if (!isDone && reason === '') throw brokenInTheMiddle()
      endBlocks(blocks, reason, into)
      into.push({ type: 'finish', finishReason: finishReasonOf(reason, blocks.hasCalls), ...anthropicUsage(usages) })
    },
  }
}

export function plainMessage(body: string, provider: ProviderSettings, schema: Json | undefined): ModelChunk[] {
  const message = parseAnswer(body)
  if (message['type'] === 'error') throw anthropicFrameError(message['error'], provider.token)
  if (!Array.isArray(message['content'])) throw unreadable()
  const blocks = newBlocks(provider, schema)
  const chunks: ModelChunk[] = []
  for (const [index, block] of message['content'].map(asObject).entries()) {
    beginBlock(blocks, index, block, chunks)
    if (block['type'] === 'tool_use') {
      const input = { type: 'input_json_delta', partial_json: JSON.stringify(block['input'] ?? {}) }
      growBlock(blocks, index, input, chunks)
    }
    endBlock(blocks, index, chunks)
  }
  const reason = asText(message['stop_reason'])
  endBlocks(blocks, reason, chunks)
  const finishReason = finishReasonOf(reason, blocks.hasCalls)
  return [...chunks, { type: 'finish', finishReason, ...anthropicUsage([message['usage']]) }]
}

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
}

/** @param hasCalls false if only the call for a structured answer was made. */
function finishReasonOf(reason: string, hasCalls: boolean): FinishReason {
  const known = Object.hasOwn(reasons, reason) ? (reasons[reason] ?? 'other') : reason === '' ? 'unknown' : 'other'
  return known === 'tool-calls' && !hasCalls ? 'stop' : known
}

/** @param frames usage objects in order of arrival. A later count replaces an earlier one. */
function anthropicUsage(frames: readonly unknown[]): CountedUsage {
  const latest = (key: string) =>
    frames.map((frame) => asNumber(asObject(frame)[key])).findLast((count) => count !== undefined) ?? 0
  const cachedInput = latest('cache_read_input_tokens')
  const cacheWrite = latest('cache_creation_input_tokens')
  const details = frames.map((frame) => asObject(asObject(frame)['output_tokens_details'])['thinking_tokens'])
  return countedUsage({
    input: latest('input_tokens') + cachedInput + cacheWrite,
    output: latest('output_tokens'),
    reasoning: details.map(asNumber).findLast((count) => count !== undefined) ?? 0,
    cachedInput,
    cacheWrite,
  })
}

/** Maps error types to statuses, because frames have no status. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

function anthropicFrameError(error: unknown, token: string): ProviderError {
  const type = asText(asObject(error)['type'])
  return brokenOff(Object.hasOwn(statuses, type) ? statuses[type] : undefined, error, token)
}
