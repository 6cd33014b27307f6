/** Renews the lease of this process every 3 s, which covers all of its runs, and ends orphaned runs. */
import { type Repeated, repeat } from '../../../shared/time/repeat.ts'
import type { Needs } from '../../deps.ts'
import { endOrphaned } from './end-orphaned.ts'

type LeaseDeps = Needs<
  'runs' | 'leases' | 'eventLog' | 'activeRuns' | 'runSettings' | 'runSignals' | 'templates' | 'clock' | 'log'
>

const renewEveryMs = 3_000
const leaseMs = 10_000
const reapEveryMs = 5_000
/** After a longer pause the machine may have stood still: other owners get time to renew their leases first. */
const standstillMs = leaseMs - renewEveryMs - 1_000

/** Before this process owns anything that others could take for orphaned. */
export async function takeLease(deps: Needs<'leases' | 'runSettings'>): Promise<void> {
  const { sharesDatabase, instanceId } = deps.runSettings
  if (sharesDatabase) await deps.leases.renew(instanceId, leaseMs)
}

/** Call after `takeLease`. `stop` resolves when neither renewing nor reaping is in progress. */
export function keepLease(deps: LeaseDeps): Repeated {
  const { runSettings } = deps
  /** Since then every renewal has succeeded; undefined after a failure. */
  let healthySince: number | undefined = performance.now()
  let renewedAt = healthySince

  const renew = async () => {
    if (!runSettings.sharesDatabase && deps.activeRuns.list().length === 0) return
    try {
      const toStop = await deps.leases.renew(runSettings.instanceId, leaseMs)
      const now = performance.now()
      // After a standstill the count restarts; this process may have lost its own runs.
      if (now - renewedAt > standstillMs) healthySince = now
      renewedAt = now
      for (const runUuid of toStop) deps.runSignals.stop(runUuid)
    } catch {
      healthySince = undefined
      renewedAt = Number.NEGATIVE_INFINITY
    }
  }

  const reap = async () => {
    await endAbandoned(deps)
    // After an outage of the database, owners renew first: healthy runs must not be reaped.
    const now = performance.now()
    const isHealthy = healthySince !== undefined && now - healthySince >= leaseMs && now - renewedAt <= standstillMs
    if (runSettings.sharesDatabase && isHealthy) await endOrphanedRuns(deps)
  }

  const renewing = repeat(renewEveryMs, renew)
  const reaping = repeat(reapEveryMs, () => reap().catch(() => deps.log.warn('runs.reap-failed')))
  return {
    async stop() {
      await Promise.all([renewing.stop(), reaping.stop()])
    },
  }
}

/** Runs that this process abandoned because their end could not be stored. Its own lease hides them from other reapers. */
async function endAbandoned(deps: LeaseDeps): Promise<void> {
  for (const run of deps.activeRuns.takeAbandoned()) {
    try {
      const found = await deps.runs.findConversation(run.workspaceId, run.conversationUuid)
      const latest = found?.latestRun
      if (found && latest?.uuid === run.runUuid && latest.status === 'running') await endOrphaned(deps, found, latest)
    } catch (error) {
      deps.activeRuns.abandon(run)
      throw error
    }
  }
}

/** Ends runs whose owner's lease has ended, as `worker_lost`. @returns their number. */
export async function endOrphanedRuns(
  deps: Needs<'runs' | 'eventLog' | 'activeRuns' | 'runSettings' | 'templates' | 'clock' | 'log'>,
): Promise<number> {
  let ended = 0
  for (const conversation of await deps.runs.listOrphaned(deps.runSettings.instanceId)) {
    const { latestRun } = conversation
    if (latestRun && (await endOrphaned(deps, conversation, latestRun))) ended += 1
  }
  if (ended > 0) deps.log.warn('runs.lost', { count: ended })
  return ended
}
