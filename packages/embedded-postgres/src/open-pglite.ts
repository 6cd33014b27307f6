import { PGlite } from '@electric-sql/pglite'
import type { DatabaseFolder } from './directory/database-folder.ts'
import { DurableFs } from './durable/durable-fs.ts'
import { DamagedDatabaseError, EmbeddedPostgresError } from './failure.ts'
import { keepByteOrderMarks } from './protocol/byte-order-marks.ts'
import type { CompiledPglite } from './thread/compiled-pglite.ts'

/** PGlite stubs the default `fdatasync`, so the sync hook would never see a write of the write-ahead log. */
const DURABLE_SETTINGS = { fsync: 'on', synchronous_commit: 'on', wal_sync_method: 'fsync', shared_buffers: '8MB' }

const START_PARAMETERS = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...Object.entries(DURABLE_SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
]

export async function openPglite(
  folder: DatabaseFolder,
  fs: DurableFs = new DurableFs(folder),
  program?: CompiledPglite,
): Promise<PGlite> {
  keepByteOrderMarks()
  const pglite = await PGlite.create({
    fs,
    startParams: START_PARAMETERS,
    // Checksums are PostgreSQL 18's default. The flag is explicit because defaults may change.
    initDbStartParams: ['--wal-segsize=1', '--data-checksums'],
    ...(program && { pgliteWasmModule: program }),
  }).catch((error: unknown) => {
    throw new DamagedDatabaseError(fs.whyNotOpen(error), 'unopened')
  })
  endWithEngine(pglite, fs)
  try {
    await proveDurable(pglite, fs)
    fs.setOpen()
  } catch (error) {
    await pglite.close()
    throw error
  }
  return pglite
}

/** The engine's exit code after an ordinary SQL error: `POSTGRES_MAIN_LONGJMP` in PGlite. */
const ORDINARY_ERROR = 100

/**
 * Ends the process when the engine exits or traps. PGlite 0.5.16 swallows such exceptions and would call the dead
 * engine forever.
 */
function endWithEngine(pglite: PGlite, fs: DurableFs): void {
  const module = pglite.Module
  const executeOnce = module._PostgresMainLoopOnce
  module._PostgresMainLoopOnce = () => {
    try {
      executeOnce()
    } catch (error) {
      if ((error as { status?: unknown }).status !== ORDINARY_ERROR) fs.endWithEngine(error)
      throw error
    }
  }
}

/**
 * Checks the settings, and that one commit triggers a sync.
 * @throws EmbeddedPostgresError if commits are not durable
 */
async function proveDurable(pglite: PGlite, fs: DurableFs): Promise<void> {
  const { rows } = await pglite.query<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'wal_sync_method', 'synchronous_commit')`,
  )
  const wrong = rows.filter((row) => row.setting !== DURABLE_SETTINGS[row.name as 'fsync'])
  const before = fs.syncCount
  await pglite.query(`SELECT pg_logical_emit_message(true, 'durability', 'start')`)
  if (rows.length !== 3 || wrong.length > 0 || fs.syncCount === before) {
    throw new EmbeddedPostgresError('The embedded database does not sync its commits on this system: refusing to start')
  }
}
