/** Answers a call of an operator's tool, within the time limit of tools. */
import type { ToolCall } from '@stet/contract/vocabulary'
import { storableJson } from '../../../shared/text-guards.ts'
import type { Span } from '../../../shared/tracer.ts'
import type { Needs } from '../../deps.ts'
import type { ToolScope } from '../run.ts'
import { timedOut } from './shown-calls.ts'
import type { ServerTool, ToolOutcome } from './tool.ts'

const maxResultCharacters = 262_144
const shownCharacters = 2_000

interface ServerToolCall {
  tool: ServerTool
  call: ToolCall
  scope: ToolScope
  signal: AbortSignal
  span: Span | undefined
}

/** @throws only the reason of `signal`. */
export async function runServerTool(
  deps: Needs<'runs' | 'logger'>,
  { tool, call, scope, signal, span }: ServerToolCall,
): Promise<ToolOutcome> {
  const { toolWaitMs } = deps.runs.settings
  const { conversationUuid, workspaceId, projectId } = scope
  const limit = AbortSignal.timeout(toolWaitMs)
  const both = AbortSignal.any([signal, limit])
  const traced = span && { traceparent: span.traceparent }
  const context = { signal: both, toolCallId: call.id, conversationUuid, workspaceId, projectId, ...traced }
  try {
    // The async function turns a synchronous throw into a rejection.
    const executing = (async () => tool.execute(call.arguments, context))()
    const value = await Promise.race([executing, rejection(both)])
    return { result: plainJson(value), isError: false }
  } catch (error) {
    signal.throwIfAborted()
    if (limit.aborted) return timedOut(toolWaitMs)
    const reason = error instanceof Error ? error.name : ''
    deps.logger.warn('run.server-tool-failed', { tool: tool.name, reason, ...span?.ids })
    const failure = (error instanceof Error ? error.message : String(error)).slice(0, shownCharacters)
    return { result: failure, isError: true, failure }
  }
}

function plainJson(value: unknown): unknown {
  const text = storableJson(value ?? null)
  if (text === undefined) throw new Error('The tool gave no JSON value')
  if (text.length > maxResultCharacters) throw new Error(`The result is larger than ${maxResultCharacters} characters`)
  return JSON.parse(text)
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    if (signal.aborted) reject(signal.reason)
  })
}
