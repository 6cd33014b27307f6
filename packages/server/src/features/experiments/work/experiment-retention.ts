/** Drops the messages of old experiments. Figures and scores stay. */
import { type Repeated, repeat } from '../../../shared/clock.ts'
import type { Needs } from '../../deps.ts'

type RetentionDeps = Needs<'experiments' | 'logger'>

const applyEveryMs = 600_000

export function keepExperimentRetention(deps: RetentionDeps): Repeated {
  return repeat(applyEveryMs, async (stopping) => {
    await applyExperimentRetention(deps, stopping).catch(() => deps.logger.warn('experiment.retention-not-applied'))
  })
}

/** Returns the number of experiments whose answers were dropped. */
export async function applyExperimentRetention(
  { experiments: { work, settings }, logger }: RetentionDeps,
  stopping: AbortSignal,
): Promise<number> {
  let count = 0
  if (settings.retentionDays > 0)
    while (!stopping.aborted && (await work.dropAnswers(settings.retentionDays))) count += 1
  if (count > 0) logger.info('experiment.retention-applied', { count })
  return count
}
