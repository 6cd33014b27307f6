import { once } from 'node:events'
import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startSnapshots } from '@stet/embedded-postgres'
import { create } from 'tar/create'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { snapshotIfDue } from '../../../embedded-postgres/src/backup/snapshots.ts'
import type { Database, DatabaseClient } from '../../src/adapters/database/database.ts'
import { backupEmbedded, restoreEmbedded } from '../../src/adapters/database/embedded-files.ts'
import { programEnd, runProgram, startProgram } from '../support/child-program.ts'
import { openTestDatabase, silent } from '../support/database-open.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { embeddedTemplate } from '../support/test-database.ts'

describe('backup of the embedded database', () => {
  let dataDir: string
  let directory: string
  let file: string
  let database: Database<DatabaseClient> | undefined

  const open = async () => {
    database = await openTestDatabase({ dataDir })
    return database
  }
  const close = async () => {
    await database?.close()
    database = undefined
  }
  const names = async () => {
    const { client } = await open()
    const rows = await client.workspace.findMany({ orderBy: { id: 'asc' } })
    await close()
    return rows.map((row) => row.name)
  }

  /** A closed database with one workspace. */
  let filled: string
  beforeAll(async () => {
    dataDir = await temporaryFolder()
    filled = join(dataDir, 'db')
    await cp(await embeddedTemplate(), filled, { recursive: true })
    await (await open()).client.workspace.create({ data: { name: 'kept' } })
    await close()
  })
  afterAll(() => rm(dirname(filled), { recursive: true }))

  beforeEach(async () => {
    dataDir = await temporaryFolder()
    directory = join(dataDir, 'db')
    file = join(dataDir, 'copy.tar.gz')
    await cp(filled, directory, { recursive: true })
  })
  afterEach(async () => {
    await close()
    await rm(dataDir, { recursive: true })
  })

  it('restores the data, but not over an existing database', async () => {
    await backupEmbedded(directory, file)
    await (await open()).client.workspace.create({ data: { name: 'later' } })
    await close()
    await expect(restoreEmbedded(directory, file)).rejects.toThrow('There is a database')
    expect(await names()).toEqual(['kept', 'later'])
    await rm(directory, { recursive: true })
    await restoreEmbedded(directory, file)
    expect(await names()).toEqual(['kept'])
  })

  it('refuses a tar.gz without a database', async () => {
    await mkdir(join(dataDir, 'other'))
    await create({ file, gzip: true, cwd: dataDir }, ['other'])
    await rm(directory, { recursive: true })
    await expect(restoreEmbedded(directory, file)).rejects.toThrow('is not empty and holds no database')
    expect((await readdir(dataDir)).sort()).toEqual(['copy.tar.gz', 'other'])
  })

  it('refuses truncated, damaged and unrelated files, and changes nothing', async () => {
    await backupEmbedded(directory, file)
    const whole = await readFile(file)
    await rm(directory, { recursive: true })
    const damaged = Buffer.from(whole)
    damaged[Math.floor(whole.length / 2)] = 255 - (whole[Math.floor(whole.length / 2)] ?? 0)
    for (const bytes of [whole.subarray(0, whole.length - 1), damaged, whole.subarray(0, 20), Buffer.from('hello')]) {
      await writeFile(file, bytes)
      await expect(restoreEmbedded(directory, file)).rejects.toThrow('truncated, damaged or not a backup')
    }
    expect((await readdir(dataDir)).sort()).toEqual(['copy.tar.gz'])
    await truncate(file)
    await expect(restoreEmbedded(directory, file)).rejects.toThrow('truncated, damaged or not a backup')
  })

  it('writes one snapshot per interval while the server works, and keeps the newest', async () => {
    const running = await open()
    const folder = join(dataDir, 'snapshots')
    const at = (hour: number) =>
      snapshotIfDue({
        directory: folder,
        backup: running.backup ?? (() => Promise.reject(new Error('no backup'))),
        everyHours: 2,
        keep: 2,
        owner: 'stet',
        now: new Date(Date.UTC(2030, 0, 1, hour)),
        log: silent,
      })
    await mkdir(folder)
    await writeFile(join(folder, 'mine.txt'), 'not a snapshot')
    expect(await at(0)).toBe('stet-20300101-000000.tar.gz')
    expect(await at(1)).toBeUndefined()
    await running.client.workspace.create({ data: { name: 'later' } })
    await at(2)
    await at(4)
    expect((await readdir(folder)).sort()).toEqual([
      'mine.txt',
      'stet-20300101-020000.tar.gz',
      'stet-20300101-040000.tar.gz',
    ])
    await close()
    await rm(directory, { recursive: true })
    await restoreEmbedded(directory, join(folder, 'stet-20300101-020000.tar.gz'))
    expect(await names()).toEqual(['kept', 'later'])
  })

  it('writes the first scheduled snapshot immediately, and none without a folder', async () => {
    const running = await open()
    const folder = join(dataDir, 'snapshots')
    const settings = { everyHours: 24, keep: 7, owner: 'stet', log: silent }
    await startSnapshots(running, { ...settings, directory: undefined }).stop()
    await startSnapshots(running, { ...settings, directory: folder }).stop()
    expect(await readdir(folder)).toHaveLength(1)
  })

  it('deletes leftovers of a killed backup on the next start', async () => {
    const child = startProgram('backup-child.ts', 'backup', directory, file)
    const ended = programEnd(child)
    await once(child, 'message')
    child.kill('SIGKILL')
    expect(await ended).toMatchObject({ signal: 'SIGKILL', stderr: '' })
    expect((await readdir(dataDir)).sort()).toEqual(['copy.tar.gz.part', 'db'])
    expect(await names()).toEqual(['kept'])
    expect(await readdir(dataDir)).toEqual(['db'])
    expect((await readdir(directory)).filter((name) => name.startsWith('stet-'))).toEqual(['stet-log-position'])
  })

  it('can repeat a killed restore', async () => {
    await backupEmbedded(directory, file)
    await rm(directory, { recursive: true })
    await mkdir(directory)
    const killed = await runProgram('backup-child.ts', 'restore', directory, file)
    expect(killed).toMatchObject({ signal: 'SIGKILL', stderr: '' })
    expect((await readdir(directory)).filter((name) => name.startsWith('stet-work-'))).toHaveLength(1)
    await restoreEmbedded(directory, file)
    expect((await readdir(directory)).filter((name) => name.startsWith('stet-'))).toEqual(['stet-log-position'])
    expect(await names()).toEqual(['kept'])
  })
})
