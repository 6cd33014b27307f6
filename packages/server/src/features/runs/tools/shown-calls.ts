/** Stores a model call's tool calls before readers see them, and waits for the caller's results. */

import { setTimeout as pause } from 'node:timers/promises'
import type { ToolCall } from '@stet/contract/vocabulary'
import { isUnavailable } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { RunProgress } from '../events/run-progress.ts'
import type { ToolScope } from '../run.ts'
import type { StepTool, Toolbox, ToolOutcome } from './tool.ts'

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

export function timedOut(waitMs: number): ToolOutcome {
  const failure = `No result came within ${waitMs / 1000} seconds`
  return { result: failure, isError: true, failure }
}
