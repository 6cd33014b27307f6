import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { apiCaller } from '../http/api-call.ts'
import { processTestMs, runServer, type ServerProcess, settingsFor, startServer } from '../support/server-process.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

describe('damaged embedded database', { timeout: processTestMs }, () => {
  let storage: TestDatabase
  let settings: Record<string, string>
  let directory: string
  let snapshots: string

  beforeEach(async () => {
    storage = await testDatabase('')
    directory = join(storage.dataDir, 'db')
    snapshots = join(storage.dataDir, 'snapshots')
    settings = { ...settingsFor(storage), STET_BACKUP_DIR: snapshots }
    await mkdir(snapshots)
    await writeFile(join(snapshots, 'stet-20260101-000000.tar.gz'), '')
  })
  afterEach(() => storage.close())

  const end = async (server: ServerProcess, signal: NodeJS.Signals) => {
    server.child.kill(signal)
    await server.ended
  }

  it('refuses a start beside keys without their database, and names the newest snapshot', async () => {
    await end(await startServer(settings), 'SIGTERM')
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
    await end(await startServer(settings), 'SIGTERM')
  })

  it('refuses a start with damage in the write-ahead log, until its position is accepted', async () => {
    const server = await startServer(settings)
    const key = (await readFile(join(storage.dataDir, 'admin.key'), 'utf8')).trim()
    for (let made = 0; made < 20; made += 1) {
      const answer = await apiCaller(server.url, key)('POST', '/projects', { body: { name: `project ${made}` } })
      expect(answer.status).toBe(201)
    }
    await end(server, 'SIGKILL')
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
    const projects = await apiCaller(accepting.url, key)('GET', '/projects')
    const left = (projects.body as unknown as unknown[]).length
    expect(left).toBeGreaterThan(1)
    expect(left).toBeLessThan(21)
    await end(accepting, 'SIGTERM')
    await end(await startServer(settings), 'SIGTERM')
  })
})
