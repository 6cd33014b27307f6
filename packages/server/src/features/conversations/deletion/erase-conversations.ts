/** Deletes every ended conversation of a custom identifier. The request is stored first: a restart finishes it. */
import type { Caller, Needs } from '../../deps.ts'
import { findProject } from '../../documents/version-ref.ts'
import type { Erasure, ErasureRequest } from './ports.ts'

export interface EraseInput {
  caller: Caller
  customIdentifier: string
  projectId?: number
}

export interface ErasedConversations {
  deleted: number
  /** Left, because a run of theirs is active. */
  active: number
}

type EraseDeps = Needs<'deletions' | 'deletionWork' | 'activeRuns'>

/** @throws AppError NotFoundError for the project. */
export async function eraseConversations(
  deps: EraseDeps & Needs<'stores' | 'liveCache' | 'clock' | 'log'>,
  { caller, customIdentifier, projectId }: EraseInput,
): Promise<ErasedConversations> {
  if (projectId !== undefined) await findProject(deps, caller, projectId)
  const { workspaceId, apiKeyId } = caller
  const request: ErasureRequest = {
    workspaceId,
    projectId: caller.projectId ?? projectId ?? null,
    customIdentifier,
    createdAt: deps.clock.now(),
  }
  const id = await deps.deletions.beginErasure(request)
  deps.deletionWork.erasing.add(id)
  try {
    const deleted = await hideErased(deps, request)
    const left = new Set([...(await deps.deletions.listLeft(request)), ...activeHere(deps, request)])
    await deps.deletions.endErasure(id)
    // Not the identifier: it may name a person.
    deps.log.info('audit.conversations-erased', { workspaceId, count: deleted, by: apiKeyId })
    return { deleted, active: left.size }
  } finally {
    deps.deletionWork.erasing.delete(id)
    deps.deletionWork.wake()
  }
}

/** Finishes what an earlier process has begun, or a request that failed half way. */
export async function finishErasures(deps: EraseDeps): Promise<void> {
  for (const erasure of await deps.deletions.listErasures()) {
    if (!deps.deletionWork.erasing.has(erasure.id)) await finishErasure(deps, erasure)
  }
}

async function finishErasure(deps: EraseDeps, erasure: Erasure): Promise<void> {
  await hideErased(deps, erasure)
  await deps.deletions.endErasure(erasure.id)
}

async function hideErased(deps: EraseDeps, request: ErasureRequest): Promise<number> {
  let count = 0
  for (;;) {
    const hidden = await deps.deletions.hideErased(request, activeHere(deps, request))
    for (const uuid of hidden) deps.activeRuns.forget(uuid)
    count += hidden.length
    if (hidden.length === 0) return count
  }
}

/** Runs of this process count until their end was shown, though their rows may say otherwise by then. */
function activeHere(deps: Needs<'activeRuns'>, request: ErasureRequest): string[] {
  return deps.activeRuns
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
