/** Deletes conversations that ended longer ago than their project, or the server, keeps them. */
import { type Repeated, repeat } from '../../../shared/time/repeat.ts'
import type { Needs } from '../../deps.ts'
import type { SweepPlace } from './ports.ts'

type RetentionDeps = Needs<'deletions' | 'deletionWork' | 'activeRuns' | 'runSettings' | 'log'>

const applyEveryMs = 10 * 60_000

/** Starts to apply it, every ten minutes. */
export function keepRetention(deps: RetentionDeps): Repeated {
  return repeat(applyEveryMs, async () => {
    try {
      await applyRetention(deps)
    } catch {
      deps.log.warn('deletion.retention-not-applied')
    }
  })
}

/** @returns how many conversations were deleted. */
export async function applyRetention(deps: RetentionDeps): Promise<number> {
  let count = 0
  for (const project of await deps.deletions.listRetained(deps.runSettings.retentionDays)) {
    // Each batch continues after the previous one, so rows to keep are read only once.
    for (let after: SweepPlace | undefined; ; ) {
      const hidden = await deps.deletions.hideExpired(project, after)
      for (const { uuid } of hidden) deps.activeRuns.forget(uuid)
      count += hidden.length
      after = hidden.at(-1)
      if (!after) break
    }
  }
  if (count > 0) {
    deps.log.info('deletion.retention-applied', { count })
    deps.deletionWork.wake()
  }
  return count
}
