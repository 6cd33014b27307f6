/** Purges hidden conversations, deleted projects and deleted drafts. If the process dies, the next process continues the purge. */

import { setTimeout as pause } from 'node:timers/promises'
import { type Repeated, repeat } from '../../../shared/clock.ts'
import { keyScope } from '../../access/api-key.ts'
import type { Needs } from '../../deps.ts'
import { deletedProjects, deletedProjectsScope } from '../../documents/version-ref.ts'
import { finishErasures } from './delete-conversations.ts'
import {
  conversationTables,
  type DeletionWork,
  draftTables,
  type PurgedRows,
  projectTables,
  purgeBatch,
} from './ports.ts'

export type PurgeDeps = Needs<'deletions' | 'runs' | 'stores' | 'liveCache' | 'logger'>

const purgeEveryMs = 60_000

/** Purges at the start, after every deletion, and once a minute. */
export function purgeDeleted(deps: PurgeDeps): Repeated {
  const purging = repeat(purgeEveryMs, (stopping) =>
    purgeOnce(deps, stopping).catch((error: unknown) => {
      if (stopping.aborted) return
      deps.logger.warn('deletion.not-purged', { reason: error instanceof Error ? error.name : '' })
    }),
  )
  deps.deletions.work.onWake(purging.wake)
  purging.wake()
  return purging
}

async function purgeOnce(deps: PurgeDeps, signal: AbortSignal): Promise<void> {
  await finishErasures(deps)
  await purgeHidden(deps, signal)
  for (const projectId of await deletedProjects(deps)) await purgeProject(deps, projectId, signal)
  await purgeDrafts(deps, signal)
}

async function purgeDrafts({ deletions }: PurgeDeps, signal: AbortSignal): Promise<void> {
  for (;;) {
    const ids = await deletions.store.listExpiredDrafts()
    if (ids.length === 0) return
    for (const table of draftTables) await purgeTable(signal, () => deletions.store.purgeDrafts(table, ids))
  }
}

async function purgeHidden(deps: PurgeDeps, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { uuids, judges } = await deps.deletions.store.listHidden()
    for (const { workspaceId, uuid } of judges) {
      // A run that has just ended may still put the conversation into the cache.
      await deps.runs.active.find(workspaceId, uuid)?.ended
      deps.runs.active.forget(uuid)
    }
    if (uuids.length === 0 && judges.length === 0) return
    for (const table of conversationTables) {
      const runs = await purgeTable(signal, () => deps.deletions.store.purgeConversations(table, uuids))
      for (const runUuid of runs) deps.runs.eventLog.drop(runUuid)
    }
  }
}

async function purgeProject(deps: PurgeDeps, projectId: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const hidden = await deps.deletions.store.hideOfProject(projectId)
    if (hidden.length === 0) break
    for (const uuid of hidden) deps.runs.active.forget(uuid)
    await purgeHidden(deps, signal)
  }
  // Stops runs that started while the project was being deleted. A later purge removes these runs.
  for (const { workspaceId, runUuid } of await deps.deletions.store.listActiveRuns(projectId)) {
    await deps.runs.store.requestStop(workspaceId, runUuid)
    deps.runs.signals.stop(runUuid)
  }
  if (await deps.deletions.store.hasConversations(projectId)) return
  for (const table of projectTables) {
    const keyHashes = await purgeTable(signal, () => deps.deletions.store.purgeProject(table, projectId))
    for (const hash of keyHashes) await deps.liveCache.drop(keyScope(hash))
  }
  if (await deps.deletions.store.removeProject(projectId)) await deps.liveCache.drop(deletedProjectsScope)
}

/** Between batches, pauses for as long as the last one took. This leaves half of the database's time to requests. */
async function purgeTable(signal: AbortSignal, purge: () => Promise<PurgedRows>): Promise<string[]> {
  const keys: string[] = []
  for (;;) {
    signal.throwIfAborted()
    const start = performance.now()
    const { count, keys: own } = await purge()
    keys.push(...own)
    if (count < purgeBatch.largeRows) return keys
    await pause(performance.now() - start)
  }
}

export function createDeletionWork(): DeletionWork {
  let purge = () => {}
  return {
    wake: () => purge(),
    onWake(listener) {
      purge = listener
    },
    erasing: new Set(),
  }
}
