import type { RunMode } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { deletedProjects } from '../documents/version-ref.ts'
import type { ClaimedRun } from '../idempotency/ports.ts'
import { type StartedRun, watchRun } from '../runs/events/watch-run.ts'
import type { ExecuteDeps } from '../runs/execute-run.ts'
import { startedConversation } from '../runs/leases/active-runs.ts'
import { enterQueue } from '../runs/queue/queue-run.ts'
import { reportIgnored, storedOrAbandoned } from '../runs/start-run.ts'
import { chatPlanOf } from '../runs/steps/run-plan.ts'
import { superviseRun } from '../runs/supervise-run.ts'
import type { ToolAnswer } from '../runs/tools/tool.ts'
import { type ConversationAddress, findConversation, type RunAddress } from './find-conversation.ts'
import { type ChatInput, chatTask, type PlaceToContinue, placeAfterRun, prepareChat } from './prepare-chat.ts'

type Followed = ChatInput & { mode: 'json' | 'stream' }

/**
 * @throws AppError NotFoundError; ConflictError while a run is active or if the Idempotency-Key was used;
 * BadRequestError for an unknown tool call; ServiceUnavailableError while runs cannot be stored.
 */
export async function continueConversation(
  deps: ExecuteDeps,
  input: Followed & ConversationAddress,
): Promise<StartedRun> {
  deps.runs.store.assertOpen()
  return startChat(deps, input, { found: await findConversation(deps, input), isLatest: true })
}

/**
 * Continues a conversation after one of its runs. The latest run continues the conversation itself, and an earlier one a
 * copy of it. @throws the errors of `findRunByUuid` and `continueConversation`.
 */
export async function continueFromRun(
  deps: ExecuteDeps,
  input: Followed & Pick<RunAddress, 'runUuid'>,
): Promise<StartedRun> {
  deps.runs.store.assertOpen()
  return startChat(deps, input, await placeAfterRun(deps, input))
}

async function startChat(deps: ExecuteDeps, input: Followed, place: PlaceToContinue): Promise<StartedRun> {
  const chat = await prepareChat(deps, input, place)
  const { conversation, messages } = chat
  const mode: RunMode = input.mode === 'stream' ? 'sse' : 'json'
  const run = { ...chat.run, ownerId: deps.runs.settings.instanceId, mode }
  // A concurrent chat may start first, so this run is stored before the provider is called.
  if (!(await storedOrAbandoned(deps, run, chat.store(run)))) throw await chat.conflict()
  reportIgnored(input, conversation.config)
  const stream = input.mode === 'stream'
  const task = chatTask(input, chat, stream ? (input.tools ?? []) : [])
  const plan = chatPlanOf(conversation, messages, task, { runUuid: run.uuid, stream })
  const { span, endsWithReader } = input
  return watchRun(superviseRun(deps, { conversation, run, mode, messages, span, endsWithReader, plan }))
}

/**
 * Queues a chat, as `queueRun` queues a run of a prompt. Both share the places of their API key.
 * @throws the errors of `prepareChat`; AppError ConflictError if the conversation has changed or the Idempotency-Key was
 * used; ServiceUnavailableError if the API key has too many queued runs, or while runs cannot be stored.
 */
export async function queueChat(deps: ExecuteDeps, input: ChatInput, place: PlaceToContinue): Promise<ClaimedRun> {
  deps.runs.store.assertOpen()
  const chat = await prepareChat(deps, input, place)
  const { conversation, messages, run } = chat
  const task = chatTask(input, chat, [])
  const queued = { ...startedConversation(conversation, run, 'queued'), messages }
  await enterQueue(deps, { runUuid: run.uuid, conversation: queued, input: task }, async () => {
    if (!(await chat.store({ ...run, mode: 'background', input: task }))) throw await chat.conflict()
  })
  reportIgnored(input, conversation.config)
  return { conversationUuid: run.conversationUuid, runUuid: run.uuid }
}

/**
 * Stores a tool call's result, then wakes the run. The first result counts; later ones are accepted and ignored.
 * @throws AppError NotFoundError for a tool call that is unknown in the workspace or hidden from the key.
 */
export async function answerToolCall(
  deps: Needs<'runs' | 'stores' | 'liveCache' | 'clock'>,
  { caller, toolCallId: id, result, isError }: ToolAnswer & { caller: Caller; toolCallId: string },
): Promise<void> {
  const { workspaceId } = caller
  const projectId = await deps.runs.toolCalls.findProject(workspaceId, id)
  const isSeen = projectId !== null && (caller.projectId === null || caller.projectId === projectId)
  if (!isSeen || (await deletedProjects(deps)).has(projectId)) throw refuse('unissued-tool-call')
  const answer = { id, workspaceId, result, isError, answeredAt: deps.clock.now() }
  if (await deps.runs.toolCalls.answer(answer)) deps.runs.toolSignals.notify(id)
}
