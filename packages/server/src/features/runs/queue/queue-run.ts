import { randomUUID } from 'node:crypto'
import { refuse } from '../../../shared/app-error.ts'
import type { ClaimedRun } from '../../idempotency/ports.ts'
import type { ExecuteDeps } from '../execute-run.ts'
import { startedConversation } from '../leases/active-runs.ts'
import { prepareRun, requireFirstUse, type StartRunInput } from '../start-run.ts'

/**
 * @throws the errors of `prepareRun`; AppError ConflictError if the Idempotency-Key was used;
 * ServiceUnavailableError if the API key has too many queued runs, or while runs cannot be stored.
 */
export async function queueRun(deps: ExecuteDeps, input: StartRunInput): Promise<ClaimedRun> {
  deps.runs.store.assertOpen()
  const { span } = input
  const { conversation, prompt: prepared, start } = await prepareRun(deps, input, 'background')
  const prompt = span ? { ...prepared, traceparent: span.traceparent } : prepared
  const { apiKeyId } = input.caller
  const { uuid: conversationUuid, workspaceId, via, createdAt } = conversation
  const run = { uuid: randomUUID(), conversationUuid, workspaceId, epoch: 1, firstEventId: 1, via, createdAt }
  if (!(await deps.runs.queue.reserve(run.uuid, apiKeyId))) throw refuse('queue-full', { retryAfter: 5 })
  deps.runs.eventLog.expect(run.uuid)
  try {
    requireFirstUse(
      await deps.runs.store.create(
        conversation,
        { ...run, ...start, mode: 'background', input: prompt },
        input.claim,
        span,
      ),
    )
  } catch (error) {
    deps.runs.queue.remove(run.uuid)
    deps.runs.eventLog.forget(run.uuid)
    throw error
  }
  const queued = { conversation: startedConversation(conversation, run, 'queued'), input: JSON.stringify(prompt) }
  deps.runs.active.rememberQueued(run.uuid, queued, !deps.runs.settings.sharesDatabase)
  deps.runs.queue.add({ runUuid: run.uuid, apiKeyId })
  return { conversationUuid, runUuid: run.uuid }
}
