/** `renew` uses one statement to renew a lease and read stop requests, for any number of runs. */

import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import type { LeaseStore } from '../../../features/runs/ports.ts'
import { usesReserve } from '../statement-gate.ts'

export function postgresLeaseStore(session: SqlSession): LeaseStore {
  return {
    async renew(ownerId, leaseMs) {
      const { rows } = await session.query(
        usesReserve(`WITH renewed AS (
           INSERT INTO instance (id, lease_until) VALUES ($1, now() + $2::int * interval '1 millisecond')
           ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until
         )
         SELECT uuid::text AS run FROM run
         WHERE status = 'running' AND ended_at IS NULL AND owner_id = $1 AND stop_requested_at IS NOT NULL`),
        [ownerId, leaseMs],
      )
      return rows.map((row) => String(row['run']))
    },
    async endAll() {
      await session.query('DELETE FROM instance')
    },
    async release(ownerId) {
      await session.query(usesReserve('DELETE FROM instance WHERE id = $1'), [ownerId])
    },
  }
}
