/** Says every 3 s that this process lives, and hears of stops whose signal was lost: the owner's lease is that of its runs. */
import { type Repeated, repeat } from '../../../shared/time/repeat.ts'
import type { Needs } from '../../deps.ts'
import { endLost } from './end-orphaned.ts'

type LeaseDeps = Needs<
  'runs' | 'leases' | 'eventLog' | 'activeRuns' | 'runSettings' | 'runSignals' | 'templates' | 'clock' | 'log'
>

const renewEveryMs = 3_000
const leaseMs = 10_000
const reapEveryMs = 5_000
/** Longer without a renewal, and the leases of others that stood still with this process may be over: they live, and renew first. */
const standstillMs = leaseMs - renewEveryMs - 1_000

/** Before this process owns anything that others could take for that of a dead one. */
export async function takeLease(deps: Needs<'leases' | 'runSettings'>): Promise<void> {
  const { sharesDatabase, instanceId } = deps.runSettings
  if (sharesDatabase) await deps.leases.renew(instanceId, leaseMs)
}

/** Starts to renew, after `takeLease`, and to reap; `stop` resolves when neither is under way any more. */
export function keepLease(deps: LeaseDeps): Repeated {
  const { runSettings } = deps
  /** Since when every renewal has succeeded; undefined after one that failed. */
  let healthySince: number | undefined = performance.now()
  let renewedAt = healthySince

  const renew = async () => {
    if (!runSettings.sharesDatabase && deps.activeRuns.list().length === 0) return
    try {
      const toStop = await deps.leases.renew(runSettings.instanceId, leaseMs)
      const now = performance.now()
      // A process that stood still starts to count anew; beyond its lease its own runs may be gone, too.
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
    // An outage of the database must not kill healthy runs when it returns: their owners renew first.
    const now = performance.now()
    const isHealthy = healthySince !== undefined && now - healthySince >= leaseMs && now - renewedAt <= standstillMs
    if (runSettings.sharesDatabase && isHealthy) await recoverRuns(deps)
  }

  const renewing = repeat(renewEveryMs, renew)
  const reaping = repeat(reapEveryMs, () => reap().catch(() => deps.log.warn('runs.reap-failed')))
  return {
    async stop() {
      await Promise.all([renewing.stop(), reaping.stop()])
    },
  }
}

/** Runs that this process gave up because their end could not be stored: nobody else would find them lost. */
async function endAbandoned(deps: LeaseDeps): Promise<void> {
  for (const run of deps.activeRuns.takeAbandoned()) {
    try {
      const found = await deps.runs.findConversation(run.workspaceId, run.conversationUuid)
      const latest = found?.latestRun
      if (found && latest?.uuid === run.runUuid && latest.status === 'running') await endLost(deps, found, latest)
    } catch (error) {
      deps.activeRuns.abandon(run)
      throw error
    }
  }
}

/** @returns how many runs were ended. */
export async function recoverRuns(
  deps: Needs<'runs' | 'eventLog' | 'activeRuns' | 'runSettings' | 'templates' | 'clock' | 'log'>,
): Promise<number> {
  let ended = 0
  for (const conversation of await deps.runs.listLost(deps.runSettings.instanceId)) {
    const { latestRun } = conversation
    if (latestRun && (await endLost(deps, conversation, latestRun))) ended += 1
  }
  if (ended > 0) deps.log.warn('runs.lost', { count: ended })
  return ended
}
