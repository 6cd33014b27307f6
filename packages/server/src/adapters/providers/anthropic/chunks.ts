/** Converts frames of a streamed message, or one plain message, to stet's chunks. */
import type { ModelChunk, ResolvedProvider } from '../../../features/providers/model-driver.ts'
import { brokenInTheMiddle, type ChunkReader, parseAnswer, uncarried, unreadable } from '../answer/chunk-reader.ts'
import { asObject, asText } from '../answer/json.ts'
import { type BlockReader, blockReader } from './block-reader.ts'
import { anthropicFrameError } from './errors.ts'
import { finishReasonOf } from './finish-reason.ts'
import { anthropicUsage } from './usage.ts'

type Json = Record<string, unknown>

/** @param schema of a structured answer, which arrives as tool input and is reported as text. */
export function messageReader(provider: ResolvedProvider, schema: Json | undefined): ChunkReader {
  const blocks = blockReader(provider, schema)
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
          return blocks.begin(index, asObject(frame['content_block']), into)
        case 'content_block_delta':
          return blocks.grow(index, asObject(frame['delta']), into)
        case 'content_block_stop':
          return blocks.end(index, into)
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
      blocks.finish(into)
      refuseLone(blocks, reason)
      into.push({ type: 'finish', finishReason: finishReasonOf(reason, blocks.hasCalls()), ...anthropicUsage(usages) })
    },
  }
}

/** @throws ProviderError for a body that is not a message. */
export function plainMessage(body: string, provider: ResolvedProvider, schema: Json | undefined): ModelChunk[] {
  const message = parseAnswer(body)
  if (message['type'] === 'error') throw anthropicFrameError(message['error'], provider.token)
  if (!Array.isArray(message['content'])) throw unreadable()
  const blocks = blockReader(provider, schema)
  const chunks: ModelChunk[] = []
  for (const [index, block] of message['content'].map(asObject).entries()) {
    blocks.begin(index, block, chunks)
    if (block['type'] === 'tool_use') {
      blocks.grow(index, { type: 'input_json_delta', partial_json: JSON.stringify(block['input'] ?? {}) }, chunks)
    }
    blocks.end(index, chunks)
  }
  blocks.finish(chunks)
  const reason = asText(message['stop_reason'])
  refuseLone(blocks, reason)
  const finishReason = finishReasonOf(reason, blocks.hasCalls())
  return [...chunks, { type: 'finish', finishReason, ...anthropicUsage([message['usage']]) }]
}

/** @throws ProviderError `uncarried` for a complete message without any content that stet can represent. */
function refuseLone(blocks: BlockReader, reason: string): void {
  const loneType = blocks.loneType()
  if (loneType !== undefined && reason === 'end_turn') throw uncarried(loneType)
}
