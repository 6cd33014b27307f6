/** Reads runs for this door: what they were asked, what they answered, and the items that a request refers to. */
import type { Message } from '@stet/contract/vocabulary'
import { findRunByUuid } from '../../features/conversations/find-conversation.ts'
import { resolveVersion } from '../../features/documents/version-ref.ts'
import type { StoredConversation } from '../../features/runs/ports.ts'
import { foundOrUndefined, refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { charactersIn } from '../../shared/json-limits.ts'
import { DoorRefusal } from '../../wire/openai/fields.ts'
import { type ItemReference, namedResults } from '../../wire/openai/messages.ts'
import { placeOfItem } from '../../wire/openai/names.ts'
import type { DoorRun } from '../../wire/openai/responses.ts'
import type { PlacedItem, ShownItem } from '../../wire/openai/shown-items.ts'
import { readKept, storedEnd } from '../../wire/openai/stored-run.ts'
import type { HttpDeps } from '../http-deps.ts'
import { noSuchResponse } from './errors.ts'

export interface ReadRun {
  run: DoorRun
  /** During the run, or as the run left it. */
  conversation: StoredConversation
}

/**
 * @param kept the text of `run.request`, if the caller of this function has it
 * @throws AppError NotFoundError for an unknown or foreign run, and for one that another interface started
 */
export async function readRun(deps: HttpDeps, caller: Caller, runUuid: string, kept?: string): Promise<ReadRun> {
  const conversation = await findRunByUuid(deps, { caller, runUuid })
  const text = kept ?? (await deps.runs.store.findRequest(caller.workspaceId, runUuid))
  if (text === null) throw refuse('unknown-run')
  const { versionUuid, projectId, path, latestRun } = conversation
  // A deleted draft has no number.
  const version = await foundOrUndefined(resolveVersion(deps, { caller, projectId, versionRef: versionUuid }))
  return {
    conversation,
    run: {
      ...{ runUuid, conversationUuid: conversation.uuid, versionUuid, path },
      version: version?.version.number ?? null,
      createdAt: latestRun?.createdAt ?? conversation.createdAt,
      ...readKept(text),
    },
  }
}

export function unknownResponse(code = 'response_not_found', param = ''): DoorRefusal {
  return new DoorRefusal(404, { code, param, message: noSuchResponse })
}

/** Replaces references by the items that earlier responses had. @throws DoorRefusal `item_not_found` */
export async function resolveItems(
  deps: HttpDeps,
  caller: Caller,
  items: readonly (Message | ItemReference)[],
  signal: AbortSignal,
): Promise<Message[]> {
  const messages: Message[] = []
  const outputOf = knownOutputs(deps, caller)
  let characters = 0
  for (const item of items) {
    if (!('reference' in item)) {
      messages.push(item)
      continue
    }
    signal.throwIfAborted()
    const found = await findItem(item as ItemReference, outputOf)
    characters += found ? charactersIn(found.content, deps.settings.bodyLimitBytes) : 0
    if (characters > deps.settings.bodyLimitBytes)
      throw refuse('body-too-large', { limit: deps.settings.bodyLimitBytes })
    const last = messages.at(-1)
    const isCall = found?.content[0]?.type === 'tool-call'
    // Parallel calls are one message.
    if (isCall && last?.role === 'assistant' && last.content.at(-1)?.type === 'tool-call')
      last.content.push(...found.content)
    else if (found) messages.push(found)
  }
  return namedResults(messages)
}

type OutputOf = (runUuid: string) => Promise<readonly PlacedItem[] | undefined>

/**
 * A request may name many items of one run, and each run is read with its whole conversation. Keeps only the outputs,
 * as many as fit into a body.
 */
function knownOutputs(deps: HttpDeps, caller: Caller): OutputOf {
  const { bodyLimitBytes } = deps.settings
  const known = new Map<string, readonly PlacedItem[] | undefined>()
  let characters = 0
  return async (runUuid) => {
    if (known.has(runUuid)) return known.get(runUuid)
    const read = await foundOrUndefined(readRun(deps, caller, runUuid))
    const end = read && storedEnd(read.conversation, read.run.toolNames)
    const output = end && typeof end !== 'string' ? end.output : undefined
    const size = charactersIn(output, bodyLimitBytes)
    if (characters + size > bodyLimitBytes) {
      known.clear()
      characters = 0
    }
    characters += size
    known.set(runUuid, output)
    return output
  }
}

/** Undefined for reasoning, whose signature does not survive this door. */
async function findItem({ reference, param }: ItemReference, outputOf: OutputOf) {
  const place = placeOfItem(reference)
  const output = place && (await outputOf(place.runUuid))
  const item = output?.[place?.index ?? -1]?.item
  if (!item) {
    const message = `There is no item '${reference}', or this key may not see it`
    throw new DoorRefusal(404, { code: 'item_not_found', param, message })
  }
  return messageOf(item)
}

function messageOf(item: ShownItem): Message | undefined {
  if (item.type === 'reasoning') return undefined
  if (item.type === 'message') return { role: 'assistant', content: [{ type: 'text', text: item.text }] }
  const { id, name, args } = item
  return { role: 'assistant', content: [{ type: 'tool-call', toolCallId: id, toolName: name, args }] }
}
