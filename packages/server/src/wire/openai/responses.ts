/** The response object of `/v1/responses`, and its event stream: a pure function of the event log, so a cut stream can be resumed. */
import type { Usage } from '@stet/contract/vocabulary'
import type { AddFrame } from '../../features/runs/ports.ts'
import { inOneLine } from '../run-frames.ts'
import { conversationId, itemId, responseId } from './names.ts'
import type { KeptRequest } from './request.ts'
import { type DoorEnd, followLog, isWhole, type LogListener, type PlacedItem, type ShownItem } from './shown-items.ts'

/** The facts of a run that do not change. */
export interface DoorRun {
  runUuid: string
  conversationUuid: string
  versionUuid: string
  /** The published number. Null for a draft. */
  version: number | null
  path: string
  createdAt: Date
  hasSteps: boolean
  request: KeptRequest
  /** The names of the caller's tools. */
  toolNames: readonly string[]
}

type Body = Record<string, unknown>

/** Extra keys of every answer of this door. */
export function stetBody(run: DoorRun, end: Pick<DoorEnd, 'model' | 'cost'> | undefined): Body {
  const { conversationUuid, versionUuid, version, path } = run
  return {
    conversationUuid,
    versionUuid,
    version,
    promptPath: path,
    model: end?.model ?? null,
    cost: end?.cost ?? null,
  }
}

/** @param state `queued` or `in_progress` before the end */
export function responseObject(
  run: DoorRun,
  state: 'queued' | 'in_progress' | { end: DoorEnd; output: readonly PlacedItem[] },
): Body {
  const { request: kept, conversationUuid } = run
  const ended = typeof state === 'string' ? undefined : state
  const { status, reason } = ended ? outcomeOf(ended.end) : { status: state as string, reason: null }
  const error = ended?.end.error
  return {
    id: responseId(run.runUuid),
    object: 'response',
    created_at: seconds(run.createdAt.getTime()),
    completed_at: ended && status === 'completed' ? seconds(ended.end.endedAt) : null,
    status,
    error: error && status === 'failed' ? { code: error.code, message: error.message } : null,
    incomplete_details: reason === null ? null : { reason },
    model: kept.model,
    output: ended ? ended.output.map((placed, index) => itemBody(run.runUuid, index, placed)) : [],
    usage: ended ? usageBody(ended.end.tokenUsage) : null,
    conversation: { id: conversationId(conversationUuid) },
    previous_response_id: kept.previous_response_id,
    instructions: kept.instructions,
    metadata: kept.metadata,
    tools: kept.tools,
    tool_choice: kept.tool_choice,
    parallel_tool_calls: kept.parallel_tool_calls,
    text: kept.text,
    reasoning: kept.reasoning,
    temperature: kept.temperature,
    top_p: kept.top_p,
    presence_penalty: kept.presence_penalty,
    frequency_penalty: kept.frequency_penalty,
    max_output_tokens: kept.max_output_tokens,
    max_tool_calls: null,
    top_logprobs: 0,
    truncation: 'disabled',
    service_tier: 'default',
    store: true,
    background: kept.background,
    prompt_cache_key: null,
    safety_identifier: kept.safety_identifier,
    user: kept.user,
    stet: stetBody(run, ended?.end),
  }
}

const seconds = (ms: number) => Math.floor(ms / 1000)

/** `response.cancelled` does not exist, and an incomplete response without a reason would be read as a success. */
function outcomeOf(end: DoorEnd): { status: string; reason: string | null } {
  const { error, finishReason } = end
  if (error?.code === 'abort_error') return { status: 'cancelled', reason: 'cancelled' }
  if (error) return { status: 'failed', reason: null }
  if (isWhole(end)) return { status: 'completed', reason: null }
  return { status: 'incomplete', reason: finishReason === 'length' ? 'max_output_tokens' : 'content_filter' }
}

function itemBody(runUuid: string, index: number, { item, isComplete }: PlacedItem): Body {
  return openItemBody(runUuid, index, item, isComplete ? 'completed' : 'incomplete')
}

/** @param status `in_progress` while the item's content is not yet part of it */
function openItemBody(runUuid: string, index: number, item: ShownItem, status: string): Body {
  const id = itemId(item.type, runUuid, index)
  const isOpen = status === 'in_progress'
  switch (item.type) {
    case 'message':
      return { id, type: 'message', status, role: 'assistant', content: isOpen ? [] : [textPart(item.text)] }
    case 'reasoning':
      return { id, type: 'reasoning', summary: isOpen ? [] : [summaryPart(item.text)] }
    case 'call': {
      const { id: call_id, name, args } = item
      return { id, type: 'function_call', status, call_id, name, arguments: isOpen ? '' : JSON.stringify(args) }
    }
  }
}

const textPart = (text: string): Body => ({ type: 'output_text', text, annotations: [], logprobs: [] })
const summaryPart = (text: string): Body => ({ type: 'summary_text', text })

function usageBody(usage: Usage): Body {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}

export interface ResponseStream {
  /** The events that depend on no log. They are written at once, also while the run is queued. */
  head: string
  /** Writes a run's log as events. It must get the log from its first entry. */
  addFrame: AddFrame
}

/** Follows the events that a server had sent before it died, and that its log has lost. */
const lostEventsGap = 1_000_000

/** @param startingAfter leaves out the events up to this number. -1 = none. */
export function responseStream(run: DoorRun, startingAfter = -1): ResponseStream {
  let frames: string[] = []
  let number = 0
  const send = (type: string, fields: object) => {
    const sequence_number = number
    number += 1
    if (sequence_number <= startingAfter) return
    frames.push(`event: ${type}\ndata: ${inOneLine(JSON.stringify({ type, sequence_number, ...fields }))}\n\n`)
  }
  const listener = itemEvents(run, send, () => frames.push('data: [DONE]\n\n'))
  sendStart(run, send)
  const head = frames.join('')
  const take = followLog(
    {
      ...listener,
      ended(end, output) {
        if (end.error?.code === 'worker_lost') number += lostEventsGap
        listener.ended(end, output)
      },
    },
    run.hasSteps,
  )
  return {
    head,
    addFrame(into, entry) {
      frames = []
      take(entry)
      into.push(...frames)
    },
  }
}

function sendStart(run: DoorRun, send: (type: string, fields: object) => void): void {
  const state = run.request.background ? 'queued' : 'in_progress'
  send('response.created', { response: responseObject(run, state) })
  if (run.request.background) send('response.queued', { response: responseObject(run, 'queued') })
  send('response.in_progress', { response: responseObject(run, 'in_progress') })
}

function itemEvents(run: DoorRun, send: (type: string, fields: object) => void, finish: () => void): LogListener {
  const { runUuid } = run
  const place = (index: number, item: ShownItem) => ({
    item_id: itemId(item.type, runUuid, index),
    output_index: index,
  })
  return {
    started: () => {},
    added(index, item) {
      send('response.output_item.added', {
        output_index: index,
        item: openItemBody(runUuid, index, item, 'in_progress'),
      })
      if (item.type === 'message')
        send('response.content_part.added', { ...place(index, item), content_index: 0, part: textPart('') })
      if (item.type === 'reasoning')
        send('response.reasoning_summary_part.added', {
          ...place(index, item),
          summary_index: 0,
          part: summaryPart(''),
        })
    },
    delta(index, item, delta) {
      if (item.type === 'message')
        send('response.output_text.delta', { ...place(index, item), content_index: 0, delta, logprobs: [] })
      else send('response.reasoning_summary_text.delta', { ...place(index, item), summary_index: 0, delta })
    },
    done(index, placed) {
      const { item } = placed
      const at = place(index, item)
      if (item.type === 'message') {
        const { text } = item
        send('response.output_text.done', { ...at, content_index: 0, text, logprobs: [] })
        send('response.content_part.done', { ...at, content_index: 0, part: textPart(text) })
      } else if (item.type === 'reasoning') {
        const { text } = item
        send('response.reasoning_summary_text.done', { ...at, summary_index: 0, text })
        send('response.reasoning_summary_part.done', { ...at, summary_index: 0, part: summaryPart(text) })
      } else {
        const written = JSON.stringify(item.args)
        send('response.function_call_arguments.delta', { ...at, delta: written })
        send('response.function_call_arguments.done', { ...at, name: item.name, arguments: written })
      }
      send('response.output_item.done', { output_index: index, item: itemBody(runUuid, index, placed) })
    },
    ended(end, output) {
      const { status } = outcomeOf(end)
      const type = status === 'cancelled' ? 'incomplete' : status
      send(`response.${type}`, { response: responseObject(run, { end, output }) })
      finish()
    },
  }
}
