import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DurableFs } from '../src/durable/durable-fs.ts'
import type { MountedOperations, RuntimeModule } from '../src/durable/runtime-fs.ts'
import { logBytes, startUpkeep, vacuumWornTables } from '../src/maintenance/upkeep.ts'
import { openPglite } from '../src/open-pglite.ts'
import { pgliteSession } from '../src/thread/pglite-session.ts'
import { runProgram } from './support/child-program.ts'
import { copyDatabase } from './support/copy-database.ts'
import { folderOf, itemTemplate, silent } from './support/database.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/** PGlite's default behavior: every sync succeeds without doing anything. */
class ShippedFs extends DurableFs {
  protected override install(module: RuntimeModule): MountedOperations {
    const operations = super.install(module)
    operations.streams.fsync = () => 0
    return operations
  }
}

describe('durability of the embedded database', () => {
  let folder: string
  let directory: string

  beforeEach(async () => {
    folder = await temporaryFolder()
    directory = join(folder, 'db')
    await copyDatabase(await itemTemplate(), directory)
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('syncs every commit and the write-ahead log', async () => {
    const fs = new DurableFs(folderOf(directory))
    const pglite = await openPglite(folderOf(directory), fs)
    const before = fs.syncCount
    for (let row = 0; row < 10; row++) await pglite.exec(`INSERT INTO item (name) VALUES ('x')`)
    expect(fs.syncCount - before).toBeGreaterThanOrEqual(10)
    await pglite.close()
  })

  it('refuses to start if commits do not reach the disk', async () => {
    await expect(openPglite(folderOf(directory), new ShippedFs(folderOf(directory)))).rejects.toThrow(
      'does not sync its commits',
    )
  })

  it('names the way out if the engine traps', () => {
    const reasons: unknown[] = []
    class RecordingFs extends DurableFs {
      protected override fail(what: string, cause: unknown): void {
        reasons.push(what, cause)
      }
    }
    const fs = new RecordingFs(folderOf(directory))
    fs.setOpen()
    fs.endWithEngine(new Error('memory access out of bounds'))
    expect(reasons).toEqual([
      'its engine failed',
      'memory access out of bounds. If its files are damaged, restore a backup',
    ])
  })

  it('refuses a directory at the path that the database uses internally', () => {
    expect(() => new DurableFs(folderOf('/pglite/data'))).toThrow('may not lie under /pglite')
  })

  it.each([
    { place: 'here', end: { code: 74, signal: null } },
    { place: 'thread', end: { code: null, signal: 'SIGKILL' } },
  ])('ends the process when a sync fails, and does not acknowledge the commit ($place)', async ({ place, end }) => {
    const child = await runProgram(new URL('support/failing-disk-child.ts', import.meta.url), directory, place)
    expect(child).toMatchObject({ ...end, stdout: '' })
    expect(child.stderr).toContain('a sync failed: the disk is broken')
    const pglite = await openPglite(folderOf(directory))
    const { rows } = await pglite.query(`SELECT name FROM item WHERE name = 'acknowledged'`)
    expect(rows).toHaveLength(1)
    await pglite.close()
  })

  const damages = [
    {
      what: 'a control file',
      damage: () => writeFile(join(directory, 'global', 'pg_control'), randomBytes(8192)),
      says: 'database files are incompatible with server',
    },
    {
      what: 'a log',
      async damage() {
        const log = join(directory, 'pg_wal')
        for (const name of await readdir(log))
          if (name.startsWith('0')) await writeFile(join(log, name), randomBytes(1024 * 1024))
      },
      says: 'could not locate a valid checkpoint record at [^\\n]*',
    },
    {
      what: 'a catalog',
      damage: () => writeFile(join(directory, 'base', '5', 'pg_filenode.map'), randomBytes(524)),
      says: 'relation mapping file [^\\n]* contains invalid data',
    },
  ]
  it.each(damages)('reports damaged $what in one line at startup', async ({ damage, says }) => {
    await damage()
    const { stderr, code } = await runProgram(new URL('support/open-child.ts', import.meta.url), directory)
    expect(stderr).toMatch(
      new RegExp(
        `^test: The database in ${directory} does not open: ${says}\\. If its files are damaged, restore a backup\n$`,
      ),
    )
    // The engine exits with 74 if it ends during recovery.
    expect([1, 74]).toContain(code)
  })

  it('refuses to read a damaged page', async () => {
    const first = await openPglite(folderOf(directory))
    await first.exec(`INSERT INTO item (name) VALUES ('x')`)
    const { rows } = await first.query<{ path: string }>(`SELECT pg_relation_filepath('item') AS path`)
    await first.close()
    const file = join(directory, rows[0]?.path ?? '')
    const bytes = await readFile(file)
    bytes[8191] = 255 - (bytes[8191] ?? 0)
    await writeFile(file, bytes)
    const again = await openPglite(folderOf(directory))
    await expect(again.query('SELECT * FROM item')).rejects.toThrow('invalid page in block 0')
    await again.close()
  })
})

describe('maintenance', () => {
  let folder: string
  let fs: DurableFs
  let pglite: PGlite

  beforeAll(async () => {
    folder = await temporaryFolder()
    const database = folderOf(join(folder, 'db'))
    await copyDatabase(await itemTemplate(), database.path)
    fs = new DurableFs(database)
    pglite = await openPglite(database, fs)
  })
  afterAll(async () => {
    await pglite.close()
    await rm(folder, { recursive: true })
  })

  it('vacuums tables that need it, once', async () => {
    const session = pgliteSession(pglite)
    await vacuumWornTables(session)
    await session.script(`
        INSERT INTO item (name) SELECT 'x' FROM generate_series(1, 1000);
        DELETE FROM item WHERE id > 10`)
    expect(await vacuumWornTables(session)).toEqual(['public.item'])
    expect(await vacuumWornTables(session)).toEqual([])
  })

  it('also vacuums on a server that is never idle', async () => {
    const session = pgliteSession(pglite)
    let statements = 0
    const vacuumed: string[] = []
    const upkeep = startUpkeep({
      session: { ...session, script: (sql) => session.script(sql).finally(() => vacuumed.push(sql)) },
      syncCount: () => fs.syncCount,
      statementCount: () => statements++,
      hasRoom: () => true,
      log: silent,
      limits: { lookEveryMs: 20, vacuumEveryMs: 100 },
    })
    await session.script(`
        INSERT INTO item (name) SELECT 'x' FROM generate_series(1, 1000);
        DELETE FROM item WHERE id > 10`)
    await expect.poll(() => vacuumed).toContain('VACUUM (ANALYZE) public.item')
    await upkeep.stop()
  })

  it('makes one checkpoint when the write-ahead log has grown, and none while little is written', async () => {
    const session = pgliteSession(pglite)
    // Each look calls this twice. It always reports activity, so that no vacuum writes in between.
    let looks = 0
    const untilLooks = async (further: number) => {
      const enough = looks + 2 * further
      const giveUp = AbortSignal.timeout(120_000)
      while (looks < enough) await delay(5, undefined, { signal: giveUp })
    }
    const checkpoints = async () => {
      const { rows } = await pglite.query<{ lsn: string }>('SELECT checkpoint_lsn AS lsn FROM pg_control_checkpoint()')
      return rows[0]?.lsn
    }
    const upkeep = startUpkeep({
      session,
      syncCount: () => fs.syncCount,
      statementCount: () => looks++,
      hasRoom: () => true,
      log: silent,
      limits: { lookEveryMs: 20, logBytes: 8 * 1024 * 1024 },
    })
    const before = await checkpoints()
    await untilLooks(5)
    expect(await checkpoints()).toBe(before)
    await pglite.exec(`
        CREATE TABLE filler AS SELECT i, repeat(md5(i::text), 20) AS text FROM generate_series(1, 20000) i`)
    await expect.poll(checkpoints).not.toBe(before)
    expect(await logBytes(session)).toBeLessThan(8 * 1024 * 1024)
    // The checkpoint keeps its emptied files, but they no longer count as log.
    const after = await checkpoints()
    await pglite.exec(`INSERT INTO item (name) VALUES ('x')`)
    await untilLooks(10)
    expect(await checkpoints()).toBe(after)
    await upkeep.stop()
  })

  it('makes no checkpoint while a backup reads the files', async () => {
    const session = pgliteSession(pglite)
    const scripts: string[] = []
    const upkeep = startUpkeep({
      session: { ...session, script: (sql) => session.script(sql).finally(() => scripts.push(sql)) },
      syncCount: () => fs.syncCount,
      statementCount: () => 0,
      hasRoom: () => true,
      log: silent,
      limits: { lookEveryMs: 5, checkpointEveryMs: 0 },
    })
    const write = () => pglite.exec(`INSERT INTO item (name) VALUES ('x')`)
    await write()
    await expect.poll(() => scripts).toContain('CHECKPOINT')
    await upkeep.pauseDuring(async () => {
      scripts.length = 0
      await write()
      await delay(100)
      expect(scripts).toEqual([])
    })
    await expect.poll(() => scripts).toContain('CHECKPOINT')
    await upkeep.stop()
  })
})
