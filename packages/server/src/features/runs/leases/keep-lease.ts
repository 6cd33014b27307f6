/** One lease per process covers all of its runs. */
import { RunError } from '../../../shared/app-error.ts'
import { type Repeated, repeat } from '../../../shared/clock.ts'
import type { Needs } from '../../deps.ts'
import { releaseLostClaims } from '../../idempotency/idempotency-key.ts'
import type { LeaseTimes } from '../ports.ts'
import { notStored } from '../run-end.ts'
import { endOrphaned, type OrphanDeps } from './end-orphaned.ts'

type LeaseDeps = Needs<'runs' | 'templates' | 'idempotency' | 'clock' | 'logger'>

export const defaultLeaseTimes: LeaseTimes = { leaseMs: 10_000, renewEveryMs: 3_000, reapEveryMs: 5_000 }

/** Call this before the process owns anything that others could treat as orphaned. */
export async function takeLease(deps: Needs<'runs'>): Promise<void> {
  const { sharesDatabase, instanceId, lease } = deps.runs.settings
  if (sharesDatabase) await deps.runs.leases.renew(instanceId, lease.leaseMs)
}

/** Renews the lease and ends orphaned runs regularly. `stop` resolves when both kinds of work are idle. */
export function keepLease(deps: LeaseDeps): Repeated {
  const { settings } = deps.runs
  const { leaseMs, renewEveryMs, reapEveryMs } = settings.lease
  /** A longer gap between renewals may mean a suspended machine. Other owners then get time to renew their leases. */
  const standstillMs = 0.9 * leaseMs - renewEveryMs
  /** The start of an unbroken series of successful renewals; undefined after a failure. */
  let healthySince: number | undefined = performance.now()
  let renewedAt = healthySince

  const renew = async () => {
    if (!settings.sharesDatabase && deps.runs.active.list().length === 0) return
    try {
      const toStop = await deps.runs.leases.renew(settings.instanceId, leaseMs)
      const now = performance.now()
      // After a standstill the series restarts, so that other owners can renew their leases before a reap.
      const stoodStill = now - renewedAt > standstillMs
      if (stoodStill) healthySince = now
      renewedAt = now
      if (stoodStill) await abortLost(deps)
      for (const runUuid of toStop) deps.runs.signals.stop(runUuid)
    } catch {
      healthySince = undefined
      renewedAt = Number.NEGATIVE_INFINITY
    }
  }

  const reap = async () => {
    await endAbandoned(deps)
    // After a database outage, waits until other owners could renew. Otherwise healthy runs would be reaped.
    const now = performance.now()
    const isHealthy = healthySince !== undefined && now - healthySince >= leaseMs && now - renewedAt <= standstillMs
    if (!settings.sharesDatabase || !isHealthy) return
    await endOrphanedRuns(deps)
    await releaseLostClaims(deps)
  }

  const renewing = repeat(renewEveryMs, renew)
  const reaping = repeat(reapEveryMs, () => reap().catch(() => deps.logger.warn('runs.reap-failed')))
  return {
    async stop() {
      await Promise.all([renewing.stop(), reaping.stop()])
    },
  }
}

/** Aborts runs that another server has ended, so that they make no useless model calls. */
async function abortLost({ runs }: LeaseDeps): Promise<void> {
  for (const { workspaceId, runUuid, abort } of runs.active.list()) {
    const found = await runs.store.findRun(workspaceId, runUuid)
    // The row is missing if the run is not stored yet.
    if (found && found.status !== 'running') abort(new RunError('worker_lost', 'Another server ended the run'))
  }
}

/** Ends the runs that this process abandoned. Other processes do not end these runs while this process has a lease. */
export async function endAbandoned(deps: OrphanDeps): Promise<void> {
  const { active, store, eventLog } = deps.runs
  const runs = active.takeAbandoned()
  for (const [place, { workspaceId, conversationUuid, runUuid, end }] of runs.entries()) {
    try {
      if (end) {
        // If another process has ended the run, later readers must get that end.
        if (!(await store.end(end))) eventLog.drop(runUuid)
        active.forget(conversationUuid)
        continue
      }
      const found = await store.findConversation(workspaceId, conversationUuid)
      const latest = found?.latestRun
      if (found && latest?.uuid === runUuid && latest.status === 'running')
        await endOrphaned(deps, found, latest, notStored())
    } catch (error) {
      for (const left of runs.slice(place)) active.abandon(left)
      throw error
    }
  }
}

/** Ends, as `worker_lost`, the runs of other owners that have no valid lease. @returns the number of ended runs. */
export async function endOrphanedRuns(deps: Needs<'runs' | 'templates' | 'clock' | 'logger'>): Promise<number> {
  let ended = 0
  for (const conversation of await deps.runs.store.listOrphaned(deps.runs.settings.instanceId)) {
    const { latestRun } = conversation
    if (latestRun && (await endOrphaned(deps, conversation, latestRun))) ended += 1
  }
  if (ended > 0) deps.logger.warn('runs.lost', { count: ended })
  return ended
}
