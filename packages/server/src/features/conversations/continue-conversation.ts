import { randomUUID } from 'node:crypto'
import type { Message, MessagePart, ToolCallPart } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Span } from '../../shared/tracer.ts'
import type { Needs } from '../deps.ts'
import { deletedProjects, resolveVersion } from '../documents/version-ref.ts'
import type { Claim } from '../idempotency/ports.ts'
import { type StartedRun, watchRun } from '../runs/events/watch-run.ts'
import type { ExecuteDeps } from '../runs/execute-run.ts'
import type { StoredConversation } from '../runs/ports.ts'
import { storedOrAbandoned } from '../runs/start-run.ts'
import { superviseRun } from '../runs/supervise-run.ts'
import type { ToolAnswer } from '../runs/tools/tool.ts'
import { busy, type ConversationAddress, changedMeanwhile, findConversation, isActive } from './find-conversation.ts'

export interface ContinueInput extends ConversationAddress {
  messages: Message[]
  mode: 'json' | 'stream'
  tools?: readonly string[]
  omitsToolsRequested?: boolean | undefined
  claim?: Claim | undefined
  span?: Span | undefined
}

/**
 * @throws AppError NotFoundError; ConflictError while a run is active or if the Idempotency-Key was used;
 * BadRequestError for an unknown tool call; ServiceUnavailableError while runs cannot be stored.
 */
export async function continueConversation(deps: ExecuteDeps, input: ContinueInput): Promise<StartedRun> {
  deps.runs.store.assertOpen()
  const found = await findConversation(deps, input)
  if (isActive(found)) throw busy()
  const added = [...answerPendingCalls(found.messages, input.messages), ...input.messages]
  const messages = [...found.messages, ...added]
  const version = await versionFor(deps, input, found)
  const run = {
    uuid: randomUUID(),
    conversationUuid: found.uuid,
    workspaceId: found.workspaceId,
    ownerId: deps.runs.settings.instanceId,
    epoch: found.epoch + 1,
    firstEventId: found.lastEventId + 1,
    via: input.caller.sessionId === null ? ('api' as const) : ('console' as const),
    createdAt: deps.clock.now(),
    mode: input.mode === 'stream' ? ('sse' as const) : ('json' as const),
    apiKeyId: input.caller.apiKeyId,
    authorId: input.caller.author.id,
    parameters: { text: null, state: 'none' as const },
  }
  // A concurrent chat may start first, so this run is stored before the provider is called.
  const isStored = await storedOrAbandoned(deps, run, deps.runs.store.createNext(run, added, input.claim, input.span))
  if (!isStored) throw await changedMeanwhile(deps, found)
  deps.runs.active.forget(found.uuid)
  const supervised = superviseRun(deps, {
    conversation: found,
    run,
    mode: run.mode,
    messages,
    span: input.span,
    plan: {
      apiKeyId: input.caller.apiKeyId,
      path: found.path,
      version,
      given: input.messages.length,
      tools: {
        workspaceId: found.workspaceId,
        projectId: found.projectId,
        versionUuid: found.versionUuid,
        conversationUuid: found.uuid,
        runUuid: run.uuid,
        awaited: input.mode === 'json' ? [] : (input.tools ?? []),
        lineage: [found.path],
      },
      projectDefaults: { provider: null, model: null },
      steps: { conversation: messages, config: found.config },
      stream: input.mode === 'stream',
      omitsToolsRequested: input.omitsToolsRequested,
    },
  })
  return watchRun(supervised)
}

/** Reads the version's number only for traces, so that other chats do not pay for it. A deleted draft has none. */
async function versionFor(deps: ExecuteDeps, { caller, span }: ContinueInput, found: StoredConversation) {
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
