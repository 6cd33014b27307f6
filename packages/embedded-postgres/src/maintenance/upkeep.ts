import type { SqlSession } from '../sql-session.ts'
import type { Log } from './log.ts'

const LIMITS = { lookEveryMs: 10_000, checkpointEveryMs: 5 * 60_000, vacuumEveryMs: 60_000, logBytes: 64 * 1024 * 1024 }
/** Vacuum thresholds: a base plus a share of the live rows, as in autovacuum. */
const DEAD_ROWS = 'n_dead_tup > 50 + 0.2 * n_live_tup OR n_mod_since_analyze > 50 + 0.1 * n_live_tup'

export interface UpkeepDeps {
  session: SqlSession
  /** Increases with each sync. An unchanged count means that nothing was written. */
  syncCount(): number
  /** Increases with each statement. An unchanged count between two checks means that the database is idle. */
  statementCount(): number
  /** False while the disk is almost full. A checkpoint on a full disk ends the process. */
  hasRoom(): boolean
  log: Log
  limits?: Partial<typeof LIMITS>
}

export interface Upkeep {
  pauseDuring(work: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

/** Schedules checkpoints and vacuums, which PostgreSQL never starts in single-user mode. */
export function startUpkeep(deps: UpkeepDeps): Upkeep {
  const limits = { ...LIMITS, ...deps.limits }
  let checkpoint = { at: Date.now(), syncs: deps.syncCount() }
  let statements = deps.statementCount()
  let vacuumedAt = Date.now()
  let running = Promise.resolve()

  const look = async () => {
    if (!deps.hasRoom()) return
    const isQuiet = deps.statementCount() === statements
    statements = deps.statementCount()
    const isWritten = deps.syncCount() !== checkpoint.syncs
    const isDue = Date.now() - checkpoint.at >= limits.checkpointEveryMs
    if (isWritten && (isDue || (await logBytes(deps.session)) > limits.logBytes)) {
      await deps.session.script('CHECKPOINT')
      checkpoint = { at: Date.now(), syncs: deps.syncCount() }
    }
    if (!isQuiet && Date.now() - vacuumedAt < limits.vacuumEveryMs) return
    await vacuumWornTables(deps.session)
    vacuumedAt = Date.now()
  }
  const timer = setInterval(() => {
    running = running.then(look).catch((error: unknown) => {
      deps.log.warn('database.upkeep-failed', { reason: error instanceof Error ? error.message : String(error) })
    })
  }, limits.lookEveryMs)
  timer.unref()
  return {
    async pauseDuring(work) {
      const done = running.then(work)
      running = done.catch(() => undefined)
      await done
    },
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

/**
 * Vacuums the tables above the thresholds and returns their names. Uses one statement per table, so that other
 * statements can run in between.
 */
export async function vacuumWornTables(session: SqlSession): Promise<string[]> {
  // Without a forced flush the counters never change, because there is no background process.
  await session.query('SELECT pg_stat_force_next_flush()')
  const { rows } = await session.query(
    `SELECT format('%I.%I', schemaname, relname) AS name FROM pg_stat_user_tables WHERE ${DEAD_ROWS}`,
  )
  const names = rows.map((row) => String(row['name']))
  for (const name of names) await session.script(`VACUUM (ANALYZE) ${name}`)
  return names
}

/**
 * Bytes of write-ahead log that crash recovery would replay. The size of the log files is unsuitable, because
 * checkpoints keep emptied files. After one burst, every check would start a checkpoint.
 */
export async function logBytes(session: SqlSession): Promise<number> {
  const { rows } = await session.query(
    'SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()',
  )
  return Number(rows[0]?.['bytes'])
}
