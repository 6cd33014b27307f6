/** Deleted conversations become unreadable immediately. A background job purges their rows. */

import type { ErasedConversations } from '@stet/contract/vocabulary'
import type { Caller } from '../../../shared/caller.ts'
import { type Repeated, repeat } from '../../../shared/clock.ts'
import type { Needs } from '../../deps.ts'
import { findProject } from '../../documents/version-ref.ts'
import {
  busy,
  type ConversationAddress,
  changedMeanwhile,
  type FindDeps,
  findConversation,
  isActive,
} from '../find-conversation.ts'
import type { ErasureRequest, SweepPlace } from './ports.ts'

/** @throws AppError NotFoundError; ConflictError while a run is active. */
export async function deleteConversation(
  deps: FindDeps & Needs<'deletions' | 'logger'>,
  address: ConversationAddress,
): Promise<{ uuid: string }> {
  const found = await findConversation(deps, address)
  const { uuid, workspaceId } = found
  if (isActive(found)) throw busy()
  if (!(await deps.deletions.store.hideConversation(workspaceId, uuid))) throw await changedMeanwhile(deps, found)
  // A run that has just ended may still put the conversation into the cache. Waits for that before clearing the cache.
  await deps.runs.active.find(workspaceId, uuid)?.ended
  deps.runs.active.forget(uuid)
  const { apiKeyId: by } = address.caller
  deps.logger.info('audit.conversation-deleted', { workspaceId, conversationUuid: uuid, by })
  deps.deletions.work.wake()
  return { uuid }
}

type EraseDeps = Needs<'deletions' | 'runs'>

export async function eraseConversations(
  deps: EraseDeps & Needs<'stores' | 'liveCache' | 'clock' | 'logger'>,
  { caller, customIdentifier, projectId }: { caller: Caller; customIdentifier: string; projectId?: number },
): Promise<ErasedConversations> {
  if (projectId !== undefined) await findProject(deps, caller, projectId)
  const { workspaceId, apiKeyId } = caller
  const place = { workspaceId, projectId: caller.projectId ?? projectId ?? null }
  const request = { ...place, customIdentifier, createdAt: deps.clock.now() }
  const id = await deps.deletions.store.beginErasure(request)
  deps.deletions.work.erasing.add(id)
  try {
    const deleted = await hideErased(deps, request)
    const left = new Set([...(await deps.deletions.store.listLeft(request)), ...activeHere(deps, request)])
    await deps.deletions.store.endErasure(id)
    // The identifier is not logged, because it may name a person.
    deps.logger.info('audit.conversations-erased', { workspaceId, count: deleted, by: apiKeyId })
    return { deleted, active: left.size }
  } finally {
    deps.deletions.work.erasing.delete(id)
    deps.deletions.work.wake()
  }
}

/** Finishes erasures that an earlier process or a failed request left incomplete. */
export async function finishErasures(deps: EraseDeps): Promise<void> {
  for (const erasure of await deps.deletions.store.listErasures()) {
    if (deps.deletions.work.erasing.has(erasure.id)) continue
    await hideErased(deps, erasure)
    await deps.deletions.store.endErasure(erasure.id)
  }
}

async function hideErased(deps: EraseDeps, request: ErasureRequest): Promise<number> {
  let count = 0
  for (;;) {
    const hidden = await deps.deletions.store.hideErased(request, activeHere(deps, request))
    for (const uuid of hidden) deps.runs.active.forget(uuid)
    count += hidden.length
    if (hidden.length === 0) break
  }
  await deps.deletions.store.forgetExamples(request)
  return count
}

/** A run of this process counts as active until its removal from `active`, even if its row has already ended. */
function activeHere(deps: Needs<'runs'>, request: ErasureRequest): string[] {
  return deps.runs.active
    .list()
    .map((run) => run.view())
    .filter(
      ({ workspaceId, projectId, customIdentifier }) =>
        workspaceId === request.workspaceId &&
        customIdentifier === request.customIdentifier &&
        (request.projectId === null || projectId === request.projectId),
    )
    .map(({ uuid }) => uuid)
}

type RetentionDeps = Needs<'deletions' | 'runs' | 'logger'>

const applyEveryMs = 10 * 60_000

export function keepRetention(deps: RetentionDeps): Repeated {
  return repeat(applyEveryMs, async () => {
    await applyRetention(deps).catch(() => deps.logger.warn('deletion.retention-not-applied'))
  })
}

export async function applyRetention(deps: RetentionDeps): Promise<number> {
  let count = 0
  for (const project of await deps.deletions.store.listRetained(deps.runs.settings.retentionDays)) {
    // Each batch starts after the previous one, so that rows to keep are read only once.
    for (let after: SweepPlace | undefined; ; ) {
      const hidden = await deps.deletions.store.hideExpired(project, after)
      for (const { uuid } of hidden) deps.runs.active.forget(uuid)
      count += hidden.length
      after = hidden.at(-1)
      if (!after) break
    }
  }
  if (count > 0) {
    deps.logger.info('deletion.retention-applied', { count })
    deps.deletions.work.wake()
  }
  return count
}
