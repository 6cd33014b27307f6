import { type Repeated, repeat } from '../../shared/clock.ts'
import type { Needs } from '../deps.ts'

const keptMs = 24 * 3_600_000
const dropEveryMs = 60_000

export function dropIdempotencyRecords(deps: Needs<'idempotency' | 'clock' | 'logger'>): Repeated {
  return repeat(dropEveryMs, () =>
    dropOldRecords(deps).catch(() => deps.logger.warn('idempotency.records-not-dropped')),
  )
}

export async function dropOldRecords(deps: Needs<'idempotency' | 'clock'>): Promise<void> {
  const before = new Date(deps.clock.now().getTime() - keptMs)
  while ((await deps.idempotency.upkeep.dropBefore(before)) > 0);
}

/** Releases the unfinished records of dead owners. An owner with a valid lease may still finish its records. */
export async function releaseLostClaims(deps: Needs<'idempotency' | 'runs' | 'logger'>): Promise<void> {
  const count = await deps.idempotency.upkeep.releaseOthers(deps.runs.settings.instanceId)
  if (count > 0) deps.logger.warn('idempotency.claims-lost', { count })
}
