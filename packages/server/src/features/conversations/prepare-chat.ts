/** What a chat adds to its conversation, before anything is stored. It is then started at once or queued. */
import { randomUUID } from 'node:crypto'
import type { Message, MessagePart, ToolCallPart } from '@stet/contract/vocabulary'
import { type AppError, refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Span } from '../../shared/telemetry.ts'
import type { PromptVersion } from '../documents/document.ts'
import { resolveVersion } from '../documents/version-ref.ts'
import type { Claim } from '../idempotency/ports.ts'
import type { ExecuteDeps } from '../runs/execute-run.ts'
import type { NewConversation, NewQueuedRun, NewRun, RunStart, StoredConversation } from '../runs/ports.ts'
import type { QueuedChat } from '../runs/run.ts'
import type { CallerRequest } from '../runs/start-run.ts'
import {
  busy,
  changedMeanwhile,
  type FindDeps,
  findConversation,
  findRunByUuid,
  isActive,
  type RunAddress,
} from './find-conversation.ts'

export interface ChatInput extends CallerRequest {
  caller: Caller
  messages: Message[]
  tools?: readonly string[]
  omitsToolsRequested?: boolean | undefined
  /** Only for a copy of a conversation that has none. */
  customIdentifier?: string | undefined
  claim?: Claim | undefined
  span?: Span | undefined
}

export interface PlaceToContinue {
  found: StoredConversation
  /** False if the conversation has newer runs. A copy of it is continued then. */
  isLatest: boolean
}

/** @throws the errors of `findRunByUuid`; AppError ConflictError while the run is active. */
export async function placeAfterRun(
  deps: FindDeps,
  { caller, runUuid }: Pick<RunAddress, 'caller' | 'runUuid'>,
): Promise<PlaceToContinue> {
  const found = await findRunByUuid(deps, { caller, runUuid })
  if (isActive(found)) throw busy()
  const whole = await findConversation(deps, { caller, conversationUuid: found.uuid })
  const isLatest = whole.latestRun?.uuid === found.latestRun?.uuid
  return { found: isLatest ? whole : found, isLatest }
}

export interface PreparedChat {
  conversation: NewConversation
  /** All messages of the conversation, the new ones included. */
  messages: Message[]
  version: PromptVersion
  run: Omit<NewRun, 'ownerId'> & Omit<RunStart, 'mode'>
  /** Returns false and stores nothing if the conversation has changed or the Idempotency-Key was used. */
  store(run: (NewRun & RunStart) | NewQueuedRun): Promise<boolean>
  /** Why nothing was stored. */
  conflict(): Promise<AppError>
}

/** @throws AppError ConflictError while a run is active; BadRequestError for an unknown tool call. */
export async function prepareChat(
  deps: ExecuteDeps,
  input: ChatInput,
  { found, isLatest }: PlaceToContinue,
): Promise<PreparedChat> {
  if (isActive(found)) throw busy()
  const added = [...answerPendingCalls(found.messages, input.messages), ...input.messages]
  const messages = [...found.messages, ...added]
  const version = await versionFor(deps, input, found)
  if (!isLatest) return forkedChat(deps, input, found, { messages, version })
  const { claim, span } = input
  const { store, active } = deps.runs
  return {
    ...{ conversation: found, messages, version },
    run: chatRun(deps, input, {
      ...{ conversationUuid: found.uuid, epoch: found.epoch + 1, firstEventId: found.lastEventId + 1 },
    }),
    async store(run) {
      const isStored = await store.createNext(run, added, claim, span)
      if (isStored) active.forget(found.uuid)
      return isStored
    },
    conflict: () => changedMeanwhile(deps, found),
  }
}

/**
 * A new conversation with the messages of an ended one, and with its prompt, version and configuration. An erasure by
 * the identifier of the ended conversation finds the new one too.
 */
function forkedChat(
  deps: ExecuteDeps,
  input: ChatInput,
  found: StoredConversation,
  { messages, version }: Pick<PreparedChat, 'messages' | 'version'>,
): PreparedChat {
  const run = chatRun(deps, input, { conversationUuid: randomUUID(), epoch: 1, firstEventId: 1 })
  const { workspaceId, projectId, versionUuid, documentUuid, path, contentHash, origin, config } = found
  const conversation: NewConversation = {
    ...{ workspaceId, projectId, versionUuid, documentUuid, path, contentHash, origin, config, messages },
    uuid: run.conversationUuid,
    customIdentifier: found.customIdentifier ?? input.customIdentifier ?? null,
    via: run.via,
    createdAt: run.createdAt,
  }
  return {
    ...{ conversation, messages, version, run },
    store: (row) => deps.runs.store.create(conversation, row, input.claim, input.span),
    conflict: async () => refuse('idempotency-in-progress', { retryAfter: 1 }),
  }
}

function chatRun(
  deps: ExecuteDeps,
  { caller, request }: ChatInput,
  place: Pick<NewRun, 'conversationUuid' | 'epoch' | 'firstEventId'>,
): PreparedChat['run'] {
  return {
    uuid: randomUUID(),
    ...place,
    workspaceId: caller.workspaceId,
    via: caller.sessionId === null ? 'api' : 'console',
    createdAt: deps.clock.now(),
    apiKeyId: caller.apiKeyId,
    authorId: caller.author.id,
    parameters: { text: null, state: 'none' },
    request,
  }
}

/** @param awaited names of the caller's tools whose results it posts during the run. */
export function chatTask(
  { caller, messages, span, omitsToolsRequested, callerSettings }: ChatInput,
  { conversation, version }: PreparedChat,
  awaited: readonly string[],
): QueuedChat {
  const { workspaceId, projectId, versionUuid, uuid: conversationUuid, path } = conversation
  return {
    apiKeyId: caller.apiKeyId,
    version,
    given: messages.length,
    tools: { workspaceId, projectId, versionUuid, conversationUuid, awaited, lineage: [path] },
    traceparent: span?.traceparent,
    ...{ omitsToolsRequested, callerSettings },
  }
}

/** Reads the version's number only for traces, so that other chats do not pay for it. A deleted draft has none. */
async function versionFor(deps: ExecuteDeps, { caller, span }: ChatInput, found: StoredConversation) {
  const { versionUuid: uuid, projectId, contentHash } = found
  if (!span) return { uuid, number: null, contentHash }
  const version = await resolveVersion(deps, { caller, projectId, versionRef: uuid }).catch(() => null)
  return { uuid, number: version?.version.number ?? null, contentHash }
}

/**
 * Creates an error result for each earlier tool call without a result.
 * @throws AppError BadRequestError for a result without its call.
 */
export function answerPendingCalls(conversation: readonly Message[], added: readonly Message[]): Message[] {
  const earlier = conversation.flatMap(({ content }) => content)
  const later = added.flatMap(({ content }) => content)
  const called = new Set(idsOf('tool-call', [...earlier, ...later]))
  const unknown = idsOf('tool-result', later).find((id) => !called.has(id))
  if (unknown !== undefined) throw refuse('unknown-tool-call', { toolCallId: unknown })
  const answered = new Set(idsOf('tool-result', [...earlier, ...later]))
  const pending = earlier.filter((part) => part.type === 'tool-call').filter((part) => !answered.has(part.toolCallId))
  return pending.length === 0 ? [] : [{ role: 'tool', content: pending.map(missingResult) }]
}

function idsOf(type: 'tool-call' | 'tool-result', parts: readonly MessagePart[]): string[] {
  return parts.flatMap((part) => (part.type === type ? [part.toolCallId] : []))
}

function missingResult({ toolCallId, toolName }: ToolCallPart): MessagePart {
  return { type: 'tool-result', toolCallId, toolName, result: 'No result was given', isError: true }
}
