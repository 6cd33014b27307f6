import { ApiError, RunError, type RunResult, type StreamEvent } from '../index.ts'
import { events, eventsOf, madeResult } from './events.ts'
import { sseResponse } from './sse-response.ts'

/** A request that the mock received. */
export interface MockCall {
  /** For example `prompts.run`. */
  operation: string
  /** The prompt's path, if the request has one. */
  path?: string
  method: string
  url: string
  /** The parsed request body. */
  body: unknown
  headers: Headers
}

/**
 * The mock response. For a run, pass its text, parts of its result, its events, or an error. For other requests, pass
 * the JSON body or an error. For a prompt, a string is the prompt's content. A function may return any of these.
 */
export type MockReply =
  | string
  | Partial<RunResult>
  | Record<string, unknown>
  | readonly StreamEvent[]
  | readonly unknown[]
  | Error
  | ((call: MockCall) => MockReply | Promise<MockReply>)

const RUNS = ['prompts.run', 'conversations.chat', 'runs.attach']
const READS = ['prompts.get', 'prompts.create', 'prompts.getOrCreate', 'prompts.createOrUpdate']

/** @throws `reply`, if `reply` is an error other than an ApiError, because no response can represent such an error */
export async function respond(call: MockCall, reply: MockReply): Promise<Response> {
  if (typeof reply === 'function') return respond(call, await reply(call))
  const isRun = RUNS.includes(call.operation)
  if (reply instanceof Error) return isRun && reply instanceof RunError ? failedRun(call, reply) : refused(reply)
  if (isRun) return run(call, reply)
  return json(typeof reply === 'string' && READS.includes(call.operation) ? promptOf(call, reply) : reply)
}

function run(call: MockCall, reply: Exclude<MockReply, Error | (() => unknown)>): Response {
  const { stream, background } = call.body as { stream?: boolean; background?: boolean }
  if (isEvents(reply)) {
    if (stream) return sseResponse(reply)
    const completed = reply.find(({ type }) => type === 'chain-completed')?.data as Partial<RunResult> | undefined
    return json(madeResult({ ...completed }))
  }
  const result = madeResult(typeof reply === 'string' ? { text: reply } : (reply as Partial<RunResult>))
  if (background) return json({ uuid: result.uuid })
  return stream ? sseResponse(eventsOf(result, [result.response.text])) : json(result)
}

function isEvents(reply: unknown): reply is readonly StreamEvent[] {
  return Array.isArray(reply)
}

function failedRun(call: MockCall, error: RunError): Response {
  const { stream } = call.body as { stream?: boolean }
  if (!stream) return refused(error)
  const { partial, errorCode: code, conversationUuid: uuid } = error
  const details = error.details as Record<string, unknown>
  const failure = { code, message: error.message, details }
  return sseResponse(events(partial?.text ?? '', { error: failure, ...(uuid && { uuid }) }))
}

function refused(error: Error): Response {
  if (!(error instanceof ApiError)) throw error
  const { status, errorCode, reason, details } = error
  const isRun = error instanceof RunError
  const { conversationUuid } = error as Partial<RunError>
  // The client writes the status before the message again.
  const message = error.message.replace(isRun ? '' : `${status} `, '')
  const more = isRun && conversationUuid !== undefined && { conversationUuid }
  const body = { name: isRun ? 'DocumentRunError' : error.name, errorCode, reason, message }
  return json({ ...body, details: { ...(details as object), ...more } }, status)
}

function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })
}

function promptOf({ path = '' }: MockCall, content: string): Record<string, unknown> {
  const id = '00000000-0000-4000-8000-000000000000'
  const at = '2000-01-01T00:00:00.000Z'
  return {
    id: 1,
    documentUuid: id,
    uuid: id,
    path,
    projectId: 1,
    commitId: 1,
    versionUuid: id,
    content,
    resolvedContent: content,
    contentHash: '',
    config: {},
    parameters: {},
    errors: [],
    createdAt: at,
    updatedAt: at,
    mergedAt: null,
    deletedAt: null,
    updatedBy: null,
  }
}
