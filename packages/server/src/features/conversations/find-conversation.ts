import { type AppError, refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs } from '../deps.ts'
import { deletedProjects } from '../documents/version-ref.ts'
import type { ClaimedRun } from '../idempotency/ports.ts'
import type { StoredConversation } from '../runs/ports.ts'
import type { ConversationFacts } from './ports.ts'

export interface ConversationAddress {
  caller: Caller
  conversationUuid: string
}

export type FindDeps = Needs<'runs' | 'stores' | 'liveCache'>

/** @throws AppError NotFoundError, also for malformed ids and for conversations that are hidden from the key. */
export async function findConversation(
  deps: FindDeps,
  { caller, conversationUuid }: ConversationAddress,
): Promise<StoredConversation> {
  const uuid = readUuid(conversationUuid)
  if (uuid === undefined) throw unknown()
  const found =
    deps.runs.active.find(caller.workspaceId, uuid)?.view() ??
    deps.runs.active.findIdle(caller.workspaceId, uuid) ??
    (await deps.runs.store.findConversation(caller.workspaceId, uuid))
  if (!found || (caller.projectId !== null && caller.projectId !== found.projectId)) throw unknown()
  if ((await deletedProjects(deps)).has(found.projectId)) throw unknown()
  return found
}

/** Like `findConversation`, without the messages, which may have 4 MB. @throws AppError NotFoundError. */
export async function findConversationFacts(
  deps: Needs<'stores' | 'liveCache'>,
  { caller, conversationUuid }: ConversationAddress,
): Promise<ConversationFacts> {
  const uuid = readUuid(conversationUuid)
  const found = uuid && (await deps.stores.labels.findConversation(caller.workspaceId, uuid))
  if (!found || (caller.projectId !== null && caller.projectId !== found.projectId)) throw unknown()
  if ((await deletedProjects(deps)).has(found.projectId)) throw unknown()
  return found
}

export type RunAddress = ConversationAddress & ClaimedRun

/** Returns the conversation during the given run, or as that run left it. @throws AppError NotFoundError. */
export async function findRun(deps: FindDeps, { caller, ...address }: RunAddress): Promise<StoredConversation> {
  const found = await findRunOptional(deps, caller.workspaceId, address)
  if (!found) throw unknown()
  return found
}

async function findRunOptional(
  deps: FindDeps,
  workspaceId: number,
  { conversationUuid, runUuid }: ClaimedRun,
): Promise<StoredConversation | null> {
  const active = deps.runs.active.find(workspaceId, conversationUuid)
  if (active?.runUuid === runUuid) return active.view()
  const ended = deps.runs.active.findIdle(workspaceId, conversationUuid)
  if (ended?.latestRun?.uuid === runUuid) return ended
  return deps.runs.store.findRun(workspaceId, runUuid)
}

/** Without `runUuid`, the latest run is meant. */
export interface AttachAddress extends ConversationAddress {
  runUuid?: string | undefined
}

/** Returns the conversation during the run, or as the run left it. @throws AppError NotFoundError. */
export async function findAttached(
  deps: FindDeps,
  { runUuid, ...address }: AttachAddress,
): Promise<StoredConversation> {
  if (runUuid === undefined) return findConversation(deps, address)
  const { uuid } = await findConversationFacts(deps, address)
  const run = readUuid(runUuid)
  const { workspaceId } = address.caller
  const found = run && (await findRunOptional(deps, workspaceId, { conversationUuid: uuid, runUuid: run }))
  if (!found || found.uuid !== uuid) throw refuse('unknown-run')
  return found
}

/**
 * Returns the conversation during the run, or as that run left it, to a caller who has only the uuid of the run.
 * @throws AppError NotFoundError, also for malformed ids and for runs that are hidden from the key.
 */
export async function findRunByUuid(
  deps: FindDeps,
  { caller, runUuid }: { caller: Caller; runUuid: string },
): Promise<StoredConversation> {
  const uuid = readUuid(runUuid)
  const found =
    uuid &&
    (deps.runs.active.findByRun(caller.workspaceId, uuid) ?? (await deps.runs.store.findRun(caller.workspaceId, uuid)))
  if (!found || (caller.projectId !== null && caller.projectId !== found.projectId)) throw refuse('unknown-run')
  if ((await deletedProjects(deps)).has(found.projectId)) throw refuse('unknown-run')
  return found
}

export function isActive({ status }: StoredConversation): boolean {
  return status === 'queued' || status === 'running'
}

/** Returns the error for a write that found a changed conversation: busy, or unknown if it was deleted. */
export async function changedMeanwhile(
  deps: Needs<'runs'>,
  { workspaceId, uuid }: StoredConversation,
): Promise<AppError> {
  return (await deps.runs.store.findConversation(workspaceId, uuid)) ? busy() : unknown()
}

export function busy(): AppError {
  return refuse('conversation-busy', { retryAfter: 1 })
}

function unknown(): AppError {
  return refuse('unknown-conversation')
}
