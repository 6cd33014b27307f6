import { once } from 'node:events'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backupDatabase, type NewBackup, restoreDatabase } from '../src/backup/backup.ts'
import { type BackupFrame, readFrames } from '../src/backup/backup-wire.ts'
import { connectToHolder } from '../src/directory/directory-lock.ts'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../src/open-embedded.ts'
import { openPglite } from '../src/open-pglite.ts'
import { copyDatabase } from './support/copy-database.ts'
import { folderOf, itemTemplate, silent, threadFile } from './support/database.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const ITEMS = 20_000

describe.skipIf(process.platform === 'win32')('backup of a database that a process has open', () => {
  let root: string
  let directory: string
  let file: string
  let engine: EmbeddedPostgres
  const backup = (onProgress: NewBackup['onProgress'] = () => undefined) =>
    backupDatabase({ folder: folderOf(directory), file, probe: 'SELECT count(*) FROM item', onProgress })
  const workEntries = async () => (await readdir(directory)).filter((name) => name.startsWith('test-work-'))
  const insert = (name: string) => engine.session.query('INSERT INTO item (name) VALUES ($1)', [name])

  // The tests share the database; the last one closes it.
  beforeAll(async () => {
    root = await temporaryFolder()
    ;[directory, file] = [join(root, 'db'), join(root, 'backups', 'copy.tar.gz')]
    await mkdir(join(root, 'backups'))
    await copyDatabase(await itemTemplate(), directory)
    engine = await openEmbeddedPostgres({ folder: folderOf(directory), template: '', threadFile, log: silent })
    engine.startUpkeep(() => 0)
    await engine.session.query(
      `INSERT INTO item (name) SELECT md5(id::text) || md5((-id)::text) FROM generate_series(1, ${ITEMS}) AS id`,
    )
  })
  afterAll(async () => {
    await rm(root, { recursive: true })
  })

  it('is requested through a socket that only its user can open', async () => {
    const [socket = ''] = (await readdir(join(directory, 'test-lock'))).filter((name) => name.endsWith('.sock'))
    expect((await stat(join(directory, 'test-lock', socket))).mode & 0o777).toBe(0o600)
    expect((await stat(join(directory, 'test-lock'))).mode & 0o777).toBe(0o700)
  })

  it('closes connections with other requests', async () => {
    const requests = ['backup', '{"backup":2,"work":[]}\n', '{"restore":1}\n', 'x'.repeat(10_000), 'backup\n', 'null\n']
    for (const text of requests) {
      const connection = await connected()
      const closed = once(connection.resume(), 'close')
      connection.end(text)
      await closed
      expect(connection.bytesRead, text).toBe(0)
    }
  })

  it('ends when its command is gone: its entries are deleted', async () => {
    const connection = await request({ backup: 1, work: ['test-work-note', 'test-work-proof', '../backups'] })
    await mkdir(join(directory, 'test-work-proof', 'base'), { recursive: true })
    const frames = readFrames(connection)
    expect((await frames.next()).value?.frame).toEqual({ accepted: true })
    expect((await frames.next()).value?.frame).toMatchObject({ total: expect.any(Number) })
    await insert('while the archive is not read')
    connection.destroy()
    await expect.poll(workEntries).toEqual([])
    expect(await readdir(root)).toContain('backups')
  })

  it('waits for a backup that is in progress, and works after requests that failed', async () => {
    const connection = await request({ backup: 1, work: [] })
    const waiting = backup()
    expect(await lastFrame(readFrames(connection))).toEqual({ end: true })
    connection.destroy()
    expect(await waiting).toEqual({ tables: 1, rows: ITEMS + 1 })
  })

  it('contains every commit made before it, is consistent under writes, and reports its progress', async () => {
    const seen: number[] = []
    let isWritten = false
    const writing = backup((read, total) => seen.push(read / total)).finally(() => {
      isWritten = true
    })
    let inserted = 0
    while (!isWritten) {
      await insert(`during ${inserted}`)
      inserted += 1
    }
    const { tables, rows } = await writing
    expect(tables).toBe(1)
    expect(rows).toBeGreaterThanOrEqual(ITEMS + 1)
    expect(rows).toBeLessThanOrEqual(ITEMS + 1 + inserted)
    expect(await readdir(join(root, 'backups'))).toEqual(['copy.tar.gz'])
    expect(await workEntries()).toEqual([])
    expect(seen.length).toBeGreaterThan(1)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    expect(seen.at(-1)).toBeGreaterThan(0.5)

    const folder = folderOf(join(root, 'restored'))
    expect(await restoreDatabase({ folder, file, probe: 'SELECT count(*) FROM item' })).toEqual({ tables, rows })
    const restored = await openPglite(folder)
    const names = await restored.query<{ name: string }>(`SELECT name FROM item WHERE name LIKE 'during %' ORDER BY id`)
    await restored.close()
    expect(names.rows.map(({ name }) => name)).toEqual(names.rows.map((_, index) => `during ${index}`))
  })

  it('does not delay the close of the database, which is then backed up without a process', async () => {
    const connection = await request({ backup: 1, work: [] })
    const frames = readFrames(connection)
    await frames.next()
    const begun = await frames.next()
    await engine.close()
    const last = await lastFrame(frames).catch(() => undefined)
    expect([begun.value?.frame, last]).not.toContainEqual({ end: true })
    expect(await backup()).toMatchObject({ tables: 1 })
  })

  async function lastFrame(frames: ReturnType<typeof readFrames>): Promise<BackupFrame | undefined> {
    let last: BackupFrame | undefined
    for await (const { frame } of frames) {
      last = frame
      if ('end' in frame) break
    }
    return last
  }

  async function connected(): Promise<Socket> {
    const connection = await connectToHolder(folderOf(directory))
    return connection ?? connect('the database has no socket')
  }

  async function request(body: unknown): Promise<Socket> {
    const connection = await connected()
    connection.write(`${JSON.stringify(body)}\n`)
    return connection
  }
})
