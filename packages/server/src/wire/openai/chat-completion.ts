/** The object and the event stream of `/v1/chat/completions`. */
import type { FinishReason, Usage } from '@stet/contract/vocabulary'
import type { AddFrame } from '../../features/runs/ports.ts'
import { inOneLine } from '../run-frames.ts'
import { completionId } from './names.ts'
import { type DoorRun, stetBody } from './responses.ts'
import { type DoorEnd, followLog, type LogListener, type PlacedItem, type ShownItem } from './shown-items.ts'

type Body = Record<string, unknown>

/** Between the texts of two model calls. */
const separator = '\n\n'

export function completionObject(run: DoorRun, end: DoorEnd, output: readonly PlacedItem[]): Body {
  const items = output.map(({ item }) => item)
  const textOf = (type: 'message' | 'reasoning') => items.flatMap((item) => (item.type === type ? [item.text] : []))
  const calls = items.flatMap((item) => (item.type === 'call' ? [callBody(item)] : []))
  const texts = textOf('message')
  const reasoning = textOf('reasoning').join(separator)
  const message = {
    role: 'assistant',
    content: texts.length === 0 && calls.length > 0 ? null : texts.join(separator),
    refusal: null,
    annotations: [],
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    ...headOf(run, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(end.finishReason) }],
    usage: usageBody(end.tokenUsage),
    stet: stetBody(run, end),
  }
}

/** @param includesUsage whether a last chunk has the usage, and all others `null` */
export function completionFrames(run: DoorRun, includesUsage: boolean): AddFrame {
  let frames: string[] = []
  const head = headOf(run, 'chat.completion.chunk')
  const send = (fields: object) => frames.push(`data: ${inOneLine(JSON.stringify({ ...head, ...fields }))}\n\n`)
  const take = followLog(chunks(run, includesUsage, { send, end: (text) => frames.push(text) }), run.hasSteps)
  return (into, entry) => {
    frames = []
    take(entry)
    into.push(...frames)
  }
}

interface ChunkWriter {
  send(fields: object): void
  end(text: string): void
}

function chunks(run: DoorRun, includesUsage: boolean, { send, end: finish }: ChunkWriter): LogListener {
  const usage = includesUsage ? { usage: null } : {}
  const choice = (delta: object, finish_reason: string | null = null, more: object = {}) =>
    send({ choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...usage, ...more })
  const shown = { message: 0, reasoning: 0, call: 0 }
  return {
    started: () => choice({ role: 'assistant', content: '' }),
    added(_index, item) {
      const earlier = shown[item.type]
      shown[item.type] += 1
      if (item.type === 'call') {
        const { id, name, args } = item
        choice({ tool_calls: [{ index: earlier, id, type: 'function', function: { name, arguments: '' } }] })
        choice({ tool_calls: [{ index: earlier, function: { arguments: JSON.stringify(args) } }] })
      } else if (earlier > 0) choice(deltaOf(item, separator))
    },
    delta: (_index, item, text) => choice(deltaOf(item, text)),
    done: () => {},
    ended(end) {
      if (end.error) {
        const { code, message } = end.error
        const error = { message, type: 'server_error', param: '', code }
        return finish(`data: ${inOneLine(JSON.stringify({ error }))}\n\n`)
      }
      choice({}, finishReasonOf(end.finishReason), { stet: stetBody(run, end) })
      if (includesUsage) send({ choices: [], usage: usageBody(end.tokenUsage) })
      finish('data: [DONE]\n\n')
    },
  }
}

const deltaOf = (item: ShownItem, text: string) =>
  item.type === 'reasoning' ? { reasoning_content: text } : { content: text }

function headOf({ runUuid, createdAt, request }: DoorRun, object: string): Body {
  return { id: completionId(runUuid), object, created: Math.floor(createdAt.getTime() / 1000), model: request.model }
}

function callBody({ id, name, args }: Extract<ShownItem, { type: 'call' }>): Body {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
}

function finishReasonOf(reason: FinishReason): string {
  if (reason === 'tool-calls') return 'tool_calls'
  if (reason === 'content-filter') return 'content_filter'
  return reason === 'length' ? 'length' : 'stop'
}

function usageBody(usage: Usage): Body {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}
