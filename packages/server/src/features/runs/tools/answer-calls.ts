/** Answers tool calls: stores them before readers see them, waits for the caller's results, and runs tools of the operator. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ToolCall } from '@stet/contract/vocabulary'
import { isUnavailable } from '../../../shared/app-error.ts'
import type { Span } from '../../../shared/telemetry.ts'
import { storableJson } from '../../../shared/text-guards.ts'
import type { Needs } from '../../deps.ts'
import type { RunProgress } from '../events/run-progress.ts'
import type { ToolScope } from '../run.ts'
import type { ServerTool, StepTool, Toolbox, ToolOutcome } from './tool.ts'

export type ShowDeps = Needs<'runs' | 'clock'>

interface WaitingCall {
  deadline: number
  changed: Promise<void>
  stop(): void
}

// The longest delay after a lost wake-up.
const lookAgainMs = 3_000

export interface ShownCalls {
  scope: ToolScope
  toolbox: Toolbox
  progress: RunProgress
  waiting: Map<string, WaitingCall>
}

/** Resolves when the calls may be shown. Stores the calls first, except in an agent's run, which is hidden. */
export async function showCalls(deps: ShowDeps, shown: ShownCalls, calls: readonly ToolCall[]): Promise<void> {
  const { workspaceId, projectId, runUuid } = shown.scope
  if (runUuid === null) return
  const createdAt = deps.clock.now()
  const deadline = performance.now() + deps.runs.settings.toolWaitMs
  const rows = calls.map(({ id, name }) => {
    const isWaiting = isAwaited(shown.toolbox.get(name))
    if (isWaiting) {
      let stop = () => {}
      const changed = new Promise<void>((wake) => {
        stop = deps.runs.toolSignals.subscribe(id, wake)
      })
      shown.progress.awaitedCalls += 1
      shown.waiting.set(id, { changed, stop, deadline })
    }
    return { id, workspaceId, projectId, runUuid, isWaiting, createdAt }
  })
  await deps.runs.toolCalls.issue(rows)
}

/** Waits for the caller's result, up to the call's deadline. @throws the reason of `signal`. */
export async function answerOf(
  deps: ShowDeps,
  shown: ShownCalls,
  id: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const waiting = shown.waiting.get(id)
  if (!waiting) throw new Error('Only a call that was shown can be waited for')
  const call = { id, workspaceId: shown.scope.workspaceId }
  let woken = waiting.changed.then(() => {
    // The wake-up resolves only once. Afterwards, only the timer ends a pause.
    woken = new Promise(() => {})
  })
  try {
    for (;;) {
      const leftMs = Math.max(0, waiting.deadline - performance.now())
      const paused = pause(Math.min(leftMs, lookAgainMs), undefined, { signal, ref: false })
      await Promise.race([woken, paused.catch(() => undefined)])
      signal.throwIfAborted()
      // Retries until the deadline while the database is unavailable.
      const answer = await deps.runs.toolCalls.findAnswer(call.workspaceId, id).catch(nullIfUnavailable)
      if (answer) return answer
      if (performance.now() < waiting.deadline) continue
      if (await deps.runs.toolCalls.close(call)) return timedOut(deps.runs.settings.toolWaitMs)
      // An answer was stored before the close. The next round reads that answer.
      waiting.deadline = performance.now() + lookAgainMs
    }
  } finally {
    endWait(shown, id)
  }
}

export function endWait({ waiting, progress }: ShownCalls, id: string): void {
  waiting.get(id)?.stop()
  if (waiting.delete(id)) progress.awaitedCalls -= 1
}

export function isAwaited(tool: StepTool | undefined): boolean {
  return tool?.source === 'client' && tool.isAwaited
}

function nullIfUnavailable(error: unknown): null {
  if (isUnavailable(error)) return null
  throw error
}

function timedOut(waitMs: number): ToolOutcome {
  const failure = `No result came within ${waitMs / 1000} seconds`
  return { result: failure, isError: true, failure }
}

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
