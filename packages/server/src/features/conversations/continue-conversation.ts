/** Continues a conversation by one model step, with the configuration it began with. One active run at a time. */
import { randomUUID } from 'node:crypto'
import { conflict, notFound } from '../../shared/app-error.ts'
import type { Claim } from '../deps.ts'
import { type DriveDeps, driveRun } from '../runs/drive-run.ts'
import { planChat } from '../runs/execution/plan-steps.ts'
import { createRunProgress } from '../runs/execution/run-progress.ts'
import { awaitedTools } from '../runs/execution/tools/tool-scope.ts'
import type { NewRun, StoredConversation } from '../runs/ports.ts'
import { runState, storedOrAbandoned } from '../runs/start-run.ts'
import { type StartedRun, watchRun } from '../runs/watching/watch-run.ts'
import type { Message } from '../templates/message.ts'
import { type ConversationAddress, findStored } from './find-conversation.ts'
import { answerPendingCalls } from './pending-calls.ts'

export interface ContinueInput extends ConversationAddress {
  messages: Message[]
  mode: 'json' | 'stream'
  /** Names of tools that the caller answers while the run waits. */
  tools?: readonly string[]
  /** The caller declares a published SDK. */
  declaredSdk: boolean
  /** Of the idempotency key that the request came with: it is stored with the run. */
  claim?: Claim
}

/**
 * @throws AppError NotFoundError; ConflictError while a run is active; BadRequestError for a result without its call.
 * Whatever goes wrong later is the run's own error.
 */
export async function continueConversation(deps: DriveDeps, input: ContinueInput): Promise<StartedRun> {
  deps.runs.assertOpen()
  const found = await findStored(deps, input)
  if (found.status === 'running' || found.status === 'queued') throw busy()
  const added = [...answerPendingCalls(found.messages, input.messages), ...input.messages]
  const messages = [...found.messages, ...added]
  const run = nextRun(deps, found)
  // Unlike a first run this one can lose: nothing may reach a provider before it has won.
  if (!(await storedOrAbandoned(deps, run, deps.runs.createNext(run, added, input.claim)))) {
    throw (await deps.runs.findConversation(found.workspaceId, found.uuid))
      ? busy()
      : notFound('Conversation not found')
  }
  deps.activeRuns.forget(found.uuid)
  const { epoch, createdAt } = run
  const latestRun = runState(run)
  const driven = driveRun(deps, {
    conversation: { ...found, status: 'running', epoch, updatedAt: createdAt, latestRun },
    run,
    stored: Promise.resolve(),
    progress: createRunProgress(messages),
    plan: {
      workspaceId: found.workspaceId,
      apiKeyId: input.caller.apiKeyId,
      path: found.path,
      tools: {
        workspaceId: found.workspaceId,
        projectId: found.projectId,
        versionUuid: found.versionUuid,
        conversationUuid: found.uuid,
        runUuid: run.uuid,
        awaited: awaitedTools(input.mode, input.tools ?? []),
        lineage: [found.path],
      },
      projectDefaults: { provider: null, model: null },
      nextStep: planChat(messages, found.config),
      stream: input.mode === 'stream',
      declaredSdk: input.declaredSdk,
    },
  })
  return watchRun(driven, found)
}

function nextRun(deps: Pick<DriveDeps, 'runSettings' | 'clock'>, conversation: StoredConversation): NewRun {
  return {
    uuid: randomUUID(),
    conversationUuid: conversation.uuid,
    workspaceId: conversation.workspaceId,
    ownerId: deps.runSettings.instanceId,
    epoch: conversation.epoch + 1,
    firstEventId: conversation.lastEventId + 1,
    createdAt: deps.clock.now(),
  }
}

function busy(): Error {
  return conflict('The conversation is busy', { retryAfter: 1 })
}
