/** Queues a chat, as `queueRun` queues a run of a prompt. Both share the places of their API key. */
import type { ClaimedRun } from '../idempotency/ports.ts'
import type { ExecuteDeps } from '../runs/execute-run.ts'
import { startedConversation } from '../runs/leases/active-runs.ts'
import { enterQueue } from '../runs/queue/queue-run.ts'
import { reportIgnored } from '../runs/start-run.ts'
import { type ChatInput, chatTask, type PlaceToContinue, prepareChat } from './prepare-chat.ts'

/**
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
