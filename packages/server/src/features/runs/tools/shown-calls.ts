/** The tool calls of one model call. Each is stored before it is shown, then awaited, then answered once. */

import { isUnavailable } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { ToolCall } from '../../templates/message.ts'
import type { ToolScope } from '../run.ts'
import type { RunProgress } from '../steps/run-progress.ts'
import type { StepTool, ToolAnswer, Toolbox, ToolOutcome } from './tool.ts'

export type ShowDeps = Needs<'runs' | 'clock'>

interface WaitingCall {
  deadline: number
  changed: Promise<void>
  stop(): void
}

// Limits the delay after a lost wake-up.
const lookAgainMs = 3_000

export interface ShownCalls {
  scope: ToolScope
  toolbox: Toolbox
  progress: RunProgress
  waiting: Map<string, WaitingCall>
}

/** Resolves when the calls are stored and may be shown. */
export async function showCalls(deps: ShowDeps, shown: ShownCalls, calls: readonly ToolCall[]): Promise<void> {
  const { workspaceId, projectId, runUuid } = shown.scope
  if (runUuid === null) return
  const createdAt = deps.clock.now()
  const deadline = performance.now() + deps.runs.settings.toolWaitMs
  const rows = calls.map(({ id, name }) => {
    const isWaiting = isAwaited(shown.toolbox.get(name))
    if (isWaiting) {
      shown.progress.awaitedCalls += 1
      shown.waiting.set(id, { ...subscribe(deps, id), deadline })
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
  const own = shown.waiting.get(id)
  if (!own) throw new Error('Only a call that was shown can be waited for')
  try {
    return await answerWithin(deps, { id, workspaceId: shown.scope.workspaceId }, own, signal)
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

function subscribe(deps: Needs<'runs'>, id: string): Pick<WaitingCall, 'changed' | 'stop'> {
  let wake = () => {}
  const changed = new Promise<void>((resolve) => {
    wake = resolve
  })
  return { changed, stop: deps.runs.toolSignals.subscribe(id, () => wake()) }
}

async function answerWithin(
  deps: ShowDeps,
  call: { id: string; workspaceId: number },
  waiting: WaitingCall,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  let isWoken = false
  const woken = waiting.changed.then(() => {
    isWoken = true
  })
  for (;;) {
    const leftMs = Math.max(0, waiting.deadline - performance.now())
    await Promise.race([...(isWoken ? [] : [woken]), pause(Math.min(leftMs, lookAgainMs), signal)])
    signal.throwIfAborted()
    const answer = await findAnswer(deps, call)
    if (answer) return answer
    if (performance.now() < waiting.deadline) continue
    if (await deps.runs.toolCalls.close(call)) return timedOut(deps.runs.settings.toolWaitMs)
    // The answer arrived before the close, so read it.
    waiting.deadline = performance.now() + lookAgainMs
  }
}

async function findAnswer(
  deps: Needs<'runs'>,
  { id, workspaceId }: { id: string; workspaceId: number },
): Promise<ToolAnswer | null> {
  try {
    return await deps.runs.toolCalls.findAnswer(workspaceId, id)
  } catch (error) {
    // Retry until the deadline while the database is unavailable.
    if (isUnavailable(error)) return null
    throw error
  }
}

export function timedOut(waitMs: number): ToolOutcome {
  const failure = `No result came within ${waitMs / 1000} seconds`
  return { result: failure, isError: true, failure }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms).unref()
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  })
}
