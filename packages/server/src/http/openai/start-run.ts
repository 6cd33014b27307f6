/** Starts the run of a request: a run of the prompt, or the next answer of a conversation. */
import { defined } from '@stet/template/defined'
import { continueConversation, continueFromRun, queueChat } from '../../features/conversations/continue-conversation.ts'
import { findConversation, findRunByUuid } from '../../features/conversations/find-conversation.ts'
import { placeAfterRun } from '../../features/conversations/prepare-chat.ts'
import type { Claim } from '../../features/idempotency/ports.ts'
import type { StartedRun } from '../../features/runs/events/watch-run.ts'
import type { StoredConversation } from '../../features/runs/ports.ts'
import { queueRun } from '../../features/runs/queue/queue-run.ts'
import { type StartRunInput, startRun } from '../../features/runs/start-run.ts'
import { foundOrUndefined } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Span } from '../../shared/telemetry.ts'
import { DoorRefusal, invalid } from '../../wire/openai/fields.ts'
import { namedResults } from '../../wire/openai/messages.ts'
import { runOfResponse, uuidOfConversation } from '../../wire/openai/names.ts'
import type { DoorRequest } from '../../wire/openai/request.ts'
import { keptText } from '../../wire/openai/stored-run.ts'
import type { HttpDeps } from '../http-deps.ts'
import { resolveItems, unknownResponse } from './door-run.ts'
import { findNamedPrompt } from './named-prompt.ts'

export interface Call {
  caller: Caller
  request: DoorRequest
  claim: Claim | undefined
  span: Span | undefined
  signal: AbortSignal
  /** Chat Completions have no id to come back with. */
  endsWithReader: boolean
  warn(warning: string): void
  /** Waits for room for one large read, and does the work that needs it. */
  inRoom<T>(work: () => Promise<T>): Promise<T>
}

/** A request whose prompt or conversation was found. Nothing has started yet. */
export interface PreparedCall {
  /** The text of the run's `request`. */
  kept: string
  start(): Promise<StartedRun>
  startInBackground(): Promise<{ runUuid: string; conversationUuid: string }>
}

/** @throws DoorRefusal for what does not exist; AppError for what may not be done now. */
export async function prepareCall(deps: HttpDeps, call: Call): Promise<PreparedCall> {
  const { request, caller } = call
  const resolve = () => resolveItems(deps, caller, request.items, call.signal)
  const hasReferences = request.items.some((item) => 'reference' in item)
  const messages = await (hasReferences ? call.inRoom(resolve) : resolve())
  const mode = request.stream ? ('stream' as const) : ('json' as const)
  const earlier = await earlierOf(deps, call)
  if (!earlier) {
    const { projectId, versionRef, path, prepared } = await findNamedPrompt(deps, caller, request.prompt)
    const kept = keptText({ hasSteps: prepared.scan.usesSteps, request: request.kept })
    const { customIdentifier } = request
    const input: StartRunInput = {
      ...sharedInput(call, kept),
      ...{ projectId, versionRef, path, messages, parameters: request.parameters, userMessageFrom: 'last-message' },
      ...defined({ customIdentifier }),
      warn: (warning) => call.warn(warning),
      signal: call.signal,
    }
    return {
      kept,
      start: () => startRun(deps, { ...input, mode }),
      startInBackground: () => queueRun(deps, input),
    }
  }
  if (Object.keys(request.parameters).length > 0) call.warn('ignored: parameters (the prompt was rendered before)')
  const kept = keptText({ hasSteps: false, request: request.kept })
  // The prompt is not rendered again, so nothing else would follow the last answer.
  if (messages.length === 0) throw invalid('input', 'at least one item: a conversation goes on with it')
  const added = namedResults(messages, earlier.conversation.messages)
  const { conversation, runUuid } = earlier
  const input = { ...sharedInput(call, kept), messages: added, customIdentifier: request.customIdentifier }
  return {
    kept,
    start: () =>
      runUuid === undefined
        ? continueConversation(deps, { ...input, mode, conversationUuid: conversation.uuid })
        : continueFromRun(deps, { ...input, mode, runUuid }),
    async startInBackground() {
      const latest = { found: conversation, isLatest: true }
      return queueChat(deps, input, runUuid === undefined ? latest : await placeAfterRun(deps, { caller, runUuid }))
    },
  }
}

function sharedInput({ caller, request, claim, span, endsWithReader, warn }: Call, kept: string) {
  const onIgnored = (keys: readonly string[]) => {
    if (keys.length > 0) warn(`ignored: ${keys.map(wireName).join(', ')} (set by the prompt)`)
  }
  return { caller, claim, span, endsWithReader, onIgnored, request: kept, callerSettings: request.settings }
}

const wireNames: Readonly<Record<string, string>> = { schema: 'response_format', maxTokens: 'max_tokens' }
const wireName = (key: string) => wireNames[key] ?? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

interface Earlier {
  conversation: StoredConversation
  /** Undefined: the conversation's latest run. */
  runUuid: string | undefined
}

/** The conversation that the request continues. @throws DoorRefusal if there is none, or if it is another prompt's. */
async function earlierOf(deps: HttpDeps, call: Call): Promise<Earlier | undefined> {
  const { caller, request } = call
  const { previousResponseId, conversationId } = request
  if (previousResponseId !== undefined) {
    const runUuid = runOfResponse(previousResponseId)
    const conversation = runUuid && (await foundOrUndefined(findRunByUuid(deps, { caller, runUuid })))
    if (!conversation) throw unknownResponse('previous_response_not_found', 'previous_response_id')
    await assertSamePrompt(deps, call, conversation)
    return { conversation, runUuid }
  }
  if (conversationId === undefined) return undefined
  const conversationUuid = uuidOfConversation(conversationId)
  const conversation =
    conversationUuid && (await foundOrUndefined(findConversation(deps, { caller, conversationUuid })))
  if (!conversation) {
    const message = 'There is no such conversation, or this key may not see it'
    throw new DoorRefusal(404, { code: 'conversation_not_found', param: 'conversation', message })
  }
  await assertSamePrompt(deps, call, conversation)
  return { conversation, runUuid: undefined }
}

async function assertSamePrompt(
  deps: HttpDeps,
  { caller, request: { prompt } }: Call,
  { path, projectId, documentUuid }: StoredConversation,
): Promise<void> {
  // The conversation goes on if its prompt was deleted or moved.
  const known = caller.projectId === null ? `${projectId}/${path}` : path
  if (prompt.place === known) return
  const { prepared } = await findNamedPrompt(deps, caller, prompt)
  if (prepared.text.documentUuid === documentUuid) return
  const message = `The conversation belongs to the prompt '${path}', which cannot change`
  throw new DoorRefusal(400, { code: 'model_mismatch', param: prompt.param, message })
}
