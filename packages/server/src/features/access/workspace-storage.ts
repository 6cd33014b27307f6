/**
 * Refuses requests that would store more in a workspace beyond `STET_WORKSPACE_MAX_MB`. The rows are measured once a
 * minute; in between, everything that is sent to be stored counts, so that a minute of writes cannot exceed the limit far.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { refuse } from '../../shared/app-error.ts'
import { type Repeated, repeat } from '../../shared/clock.ts'
import type { Needs } from '../deps.ts'
import type { WorkspaceStorage } from './ports.ts'

const megabyte = 1_048_576
const measureEveryMs = 60_000
/** Pages of each table in one read. About 8 MB, which even the embedded database reads in less than 100 ms. */
const pagesAtOnce = 1_000

/** Undefined if there is no limit. */
export function createWorkspaceStorage(settings: {
  workspaceMaxMb?: number | undefined
}): WorkspaceStorage | undefined {
  const { workspaceMaxMb: limitMb } = settings
  if (limitMb === undefined) return undefined
  /** Bytes by workspace: those of the last measurement, and those added since. */
  let stored = new Map<number, number>()
  /** Bytes that were added since the running measurement began, and that it may have missed. */
  let recent = new Map<number, number>()
  return {
    add(workspaceId, bytes) {
      for (const sums of [stored, recent]) addTo(sums, workspaceId, bytes)
    },
    totalBytes: () => [...stored.values()].reduce((sum, bytes) => sum + bytes, 0),
    requireRoom(workspaceId) {
      const bytes = stored.get(workspaceId) ?? 0
      if (bytes <= limitMb * megabyte) return
      const retryAfter = measureEveryMs / 1_000
      throw refuse('workspace-full', { limitMb, storedMb: Math.ceil(bytes / megabyte), retryAfter })
    },
    async replace(measure) {
      recent = new Map()
      const measured = await measure()
      for (const [workspaceId, bytes] of recent) addTo(measured, workspaceId, bytes)
      stored = measured
    },
  }
}

function addTo(sums: Map<number, number>, workspaceId: number, bytes: number): void {
  sums.set(workspaceId, (sums.get(workspaceId) ?? 0) + bytes)
}

/** Measures now and then every minute. Nothing if there is no limit. */
export function keepMeasuringStorage(deps: Needs<'storage' | 'logger'>): Repeated[] {
  if (!deps.storage) return []
  const measuring = repeat(measureEveryMs, (stopping) =>
    measureStorage(deps, { signal: stopping }).catch((error: unknown) => {
      if (stopping.aborted) return
      deps.logger.warn('storage.not-measured', { reason: error instanceof Error ? error.message : String(error) })
    }),
  )
  measuring.wake()
  return [measuring]
}

/** Pauses after each statement for as long as it took, so that measuring uses at most half of the database. */
export async function measureStorage(
  { storage }: Needs<'storage'>,
  { signal, pages = pagesAtOnce }: { signal?: AbortSignal; pages?: number } = {},
): Promise<void> {
  await storage?.use.replace(async () => {
    const sums = new Map<number, number>()
    for (let from = 0; ; from += pages) {
      const start = performance.now()
      const { bytes, hasMore } = await storage.meter.measure(from, pages)
      for (const [workspaceId, part] of bytes) addTo(sums, workspaceId, part)
      if (!hasMore) return sums
      await delay(performance.now() - start, undefined, signal && { signal, ref: false })
    }
  })
}
