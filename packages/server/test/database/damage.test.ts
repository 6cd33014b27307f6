import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { copyDatabase } from '../../../embedded-postgres/test/support/copy-database.ts'
import type { Database, DatabaseClient } from '../../src/adapters/database/database.ts'
import { OperatorError } from '../../src/shared/app-error.ts'
import type { LogFields } from '../../src/shared/telemetry.ts'
import { apiCaller } from '../http/api-call.ts'
import { openTestDatabase, silent } from '../support/database-open.ts'
import { processTestMs, runServer, type ServerProcess, settingsFor, startServer } from '../support/server-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

describe('damaged embedded database', { timeout: processTestMs }, () => {
  let storage: TestDatabase
  let settings: Record<string, string>
  let directory: string
  let snapshots: string
  const events: string[] = []

  /** The data folder of a server that was killed after it had made 20 projects. Each test changes a copy. */
  let killed: string
  beforeAll(async () => {
    killed = join(await temporaryFolder(), 'data')
    await mkdir(killed)
    const server = await startServer(settingsFor({ dataDir: killed }))
    const api = apiCaller(server.url, (await readFile(join(killed, 'admin.key'), 'utf8')).trim())
    for (let made = 0; made < 20; made += 1) {
      expect((await api('POST', '/projects', { body: { name: `project ${made}` } })).status).toBe(201)
    }
    await end(server, 'SIGKILL')
    // A socket cannot be copied. Its process has ended.
    await rm(join(killed, 'db', 'stet-lock'), { recursive: true })
  }, processTestMs)
  afterAll(() => rm(dirname(killed), { recursive: true }))

  async function use(made: TestDatabase) {
    events.length = 0
    storage = made
    directory = join(storage.dataDir, 'db')
    snapshots = join(storage.dataDir, 'snapshots')
    settings = { ...settingsFor(storage), STET_BACKUP_DIR: snapshots }
    await mkdir(snapshots)
    await writeFile(join(snapshots, 'stet-20260101-000000.tar.gz'), '')
  }
  const useNew = async () => use(await testDatabase(''))
  async function useKilled() {
    const dataDir = join(await temporaryFolder(), 'data')
    await copyDatabase(killed, dataDir)
    await use({ dataDir, close: () => rm(dirname(dataDir), { recursive: true }) })
  }
  afterEach(() => storage.close())

  const end = async (server: ServerProcess, signal: NodeJS.Signals) => {
    server.child.kill(signal)
    await server.ended
  }

  it('refuses a start beside keys without their database, and names the newest snapshot', async () => {
    await useKilled()
    await rename(directory, `${directory}-unmounted`)
    await rm(snapshots, { recursive: true })
    await mkdir(snapshots)
    for (const day of ['01', '03', '02']) await writeFile(join(snapshots, `stet-202601${day}-000000.tar.gz`), '')
    const refused = await runServer(settings)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toBe(
      `stet-server: There is no database in ${directory}, but there was one: mount it, or restore the newest snapshot, ${snapshots}/stet-20260103-000000.tar.gz, into another data folder with "stet-server restore". For a new database, move encryption.key and admin.key out of ${storage.dataDir}\n`,
    )
    expect(await readdir(directory)).toEqual([])
    await rm(directory, { recursive: true })
    await rename(`${directory}-unmounted`, directory)
    await (await openIt()).close()
  })

  it('refuses a start with damage in the write-ahead log, until its position is accepted', async () => {
    await useKilled()
    const key = (await readFile(join(storage.dataDir, 'admin.key'), 'utf8')).trim()
    const position = Number.parseInt((await readFile(join(directory, 'stet-log-position'), 'utf8')).slice(0, 16), 16)
    const damaged = position - 2_000
    const segment = Math.floor(damaged / 2 ** 20)
      .toString(16)
      .toUpperCase()
      .padStart(24, '0')
      .replace(/^.{8}/, '00000001')
    const file = await open(join(directory, 'pg_wal', segment), 'r+')
    await file.write(Buffer.from('xyz'), 0, 3, damaged % 2 ** 20)
    await file.close()

    const at = `0/${position.toString(16).toUpperCase()}`
    const refused = await runServer(settings)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    const words = [
      `stet-server: The write-ahead log in ${directory} is damaged at`,
      at,
      snapshots,
      `STET_ACCEPT_LOST_WRITES=${at} `,
    ]
    for (const word of words) expect(refused.stderr).toContain(word)
    expect(refused.stderr.trimEnd()).not.toContain('\n')
    const accepting = await startServer({ ...settings, STET_ACCEPT_LOST_WRITES: at })
    const { body: projects } = await apiCaller(accepting.url, key)<unknown[]>('GET', '/projects')
    const left = projects.length
    expect(left).toBeGreaterThan(1)
    expect(left).toBeLessThan(21)
    await end(accepting, 'SIGTERM')
    await (await openIt()).close()
  })

  const way = () =>
    `Keep a copy of ${directory}. Then restore the newest snapshot, ${snapshots}/stet-20260101-000000.tar.gz, into`

  const openIt = () => {
    const error = (event: string, { reason }: LogFields) => void events.push(`${event} ${String(reason)}`)
    return openTestDatabase(storage, { backupDir: snapshots, log: { ...silent, error } })
  }

  /** Closes the database and changes the first page of a relation. */
  async function damagePage(database: Database<DatabaseClient>, relation: string, change: (page: Buffer) => void) {
    const { rows } = await database.session.query('SELECT pg_relation_filepath($1::regclass) AS path', [relation])
    await database.close()
    const file = join(directory, String(rows[0]?.['path']))
    const bytes = await readFile(file)
    change(bytes.subarray(0, 8_192))
    await writeFile(file, bytes)
  }
  const flip = (page: Buffer) => void page.fill(0xff, 8_000, 8_003)
  const zero = (page: Buffer) => void page.fill(0)

  it.each([
    [
      'a flipped page of migrations',
      '_prisma_migrations',
      flip,
      /^The database in \S+ is damaged: invalid page in block 0 of /,
    ],
    [
      'a lost page of migrations',
      '_prisma_migrations',
      zero,
      /: _prisma_migrations lacks \d\S+, but relation "\w+" already exists/,
    ],
    [
      'a lost page of an index',
      '_prisma_migrations_pkey',
      zero,
      /is damaged: index "_prisma_migrations_pkey" contains unexpected/,
    ],
  ])('refuses a start with %s, in one line with the way out', async (_, relation, change, message) => {
    await useNew()
    await damagePage(await openIt(), relation, change)
    const error = await openIt().catch((refused: unknown) => refused)
    expect(error).toBeInstanceOf(OperatorError)
    const line = String((error as OperatorError).message)
    expect(line).toMatch(message)
    expect(line).toContain(way())
    expect(line).not.toContain('\n')
  })

  it('names the newest snapshot if PostgreSQL does not open the database', async () => {
    await useNew()
    await damagePage(await openIt(), 'pg_class', flip)
    await expect(openIt()).rejects.toThrow(
      `invalid page in block 0 of relation "base/5/1259". If its files are damaged, restore a backup. The newest snapshot is ${snapshots}/stet-20260101-000000.tar.gz`,
    )
  })

  it('is not ready after a statement met damage, and logs it once with the way out', async () => {
    await useNew()
    const filled = await openIt()
    await filled.client.workspace.create({ data: { name: 'one' } })
    await damagePage(filled, 'workspace', flip)
    const database = await openIt()
    database.reportDamage?.()
    expect(await database.ready()).toMatchObject({ intact: true })
    await expect(database.session.query('SELECT no_such_column')).rejects.toThrow()
    expect(await database.ready()).toMatchObject({ intact: true })
    for (const read of [1, 2]) await expect(database.client.workspace.findMany(), `read ${read}`).rejects.toThrow()
    expect(await database.ready()).toMatchObject({ database: true, intact: false })
    await expect.poll(() => events).toEqual([expect.stringContaining(way())])
    expect(events[0]).toMatch(/^database.damaged The database in \S+ is damaged: invalid page in block 0 of relation /)
    await database.close()
  })

  it('does not take a database whose workspaces are lost for a new one', async () => {
    await useKilled()
    const key = await readFile(join(storage.dataDir, 'admin.key'), 'utf8')
    await damagePage(await openIt(), 'workspace', zero)
    const { code, stderr, stdout } = await runServer(settings)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('tables are missing: no rows in workspace, but rows in author and api_key')
    expect(stderr).toContain('Then restore the newest snapshot')
    expect(await readFile(join(storage.dataDir, 'admin.key'), 'utf8')).toBe(key)
  })
})
