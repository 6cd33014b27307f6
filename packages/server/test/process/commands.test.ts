import type { ChildProcess } from 'node:child_process'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isWellFormedApiKey } from '../../src/features/access/api-key.ts'
import { httpCall } from '../http/api-call.ts'
import { programEnd } from '../support/child-program.ts'
import {
  processTestMs,
  runServer,
  type ServerProcess,
  settingsFor,
  spawnServer,
  startServer,
} from '../support/server-process.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

let storage: TestDatabase
let settings: Record<string, string>
let server: ServerProcess | undefined

beforeEach(async () => {
  storage = await testDatabase()
  settings = settingsFor(storage)
})
afterEach(async () => {
  server?.child.kill('SIGKILL')
  await server?.ended
  server = undefined
  await storage.close()
})

async function identityOf(key: string): Promise<Record<string, unknown>> {
  server = await startServer(settings)
  const answer = await httpCall('GET', `${server.url}/api/v3/me`, { headers: { authorization: `Bearer ${key}` } })
  server.child.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
  return { status: answer.status, ...answer.body }
}

async function firstStart(): Promise<void> {
  server = await startServer(settings)
  server.child.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
}

describe('stet-server', { timeout: processTestMs }, () => {
  it.each([
    [['--help'], 0, /^stet-server \[start\]\n/],
    [['help'], 0, /^stet-server \[start\]\n/],
    [['--version'], 0, /^\d+\.\d+\.\d+\S*\n$/],
    [['generate-key', 'encryption'], 0, /^[A-Za-z0-9+/]{43}=\n$/],
    [['generate-key', 'admin'], 0, /^stet_\S+\n$/],
    [['generate-key'], 2, /^$/],
    [['backup'], 2, /^$/],
    [['no-such-command'], 2, /^$/],
  ])('runs %s without settings and creates no folder', async (args, code, stdout) => {
    const folder = join(storage.dataDir, 'new')
    const end = await runServer({ PORT: 'wrong', STET_DATA_DIR: folder }, ...args)
    expect(end).toMatchObject({ code, stdout: expect.stringMatching(stdout) })
    expect(end.stderr.startsWith('stet-server [start]\n')).toBe(code === 2)
    expect(await readdir(storage.dataDir)).not.toContain('new')
  })

  it('prints only the new key to standard output for new-admin-key', async () => {
    const early = await runServer(settings, 'new-admin-key')
    expect(early).toMatchObject({ code: 1, stdout: '', stderr: 'stet-server: Workspace not found\n' })
    await firstStart()
    const { code, stdout, stderr } = await runServer(settings, 'new-admin-key')
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'admin API key of workspace default (shown once):\n' })
    expect(isWellFormedApiKey(stdout.trim())).toBe(true)
    expect(await identityOf(stdout.trim())).toMatchObject({ status: 200, workspace: { name: 'default' } })
  })

  it('creates a workspace with its own key, once', async () => {
    await firstStart()
    const made = await runServer(settings, 'workspace', 'create', 'second')
    expect(made).toMatchObject({ code: 0, stderr: 'admin API key of workspace second (shown once):\n' })
    const again = await runServer(settings, 'workspace', 'create', 'second')
    const stderr = "stet-server: A workspace named 'second' already exists\n"
    expect(again).toEqual({ code: 1, signal: null, stdout: '', stderr })
    expect(await identityOf(made.stdout.trim())).toMatchObject({ status: 200, workspace: { name: 'second' } })
  })
})

describe.runIf(process.env['STET_TEST_DATABASE_URL'])('stet-server on PostgreSQL', { timeout: processTestMs }, () => {
  it('refuses backup and restore in one line and creates no folder', async () => {
    const folder = join(storage.dataDir, 'new')
    for (const command of ['backup', 'restore']) {
      const { code, stderr } = await runServer({ ...settings, STET_DATA_DIR: folder }, command, join(folder, 'file'))
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'stet-server: backup and restore are for the embedded database; use pg_dump with DATABASE_URL\n',
      })
    }
    expect(await readdir(storage.dataDir)).not.toContain('new')
  })
})

describe.skipIf(process.env['STET_TEST_DATABASE_URL'])(
  'stet-server on the embedded database',
  { timeout: processTestMs },
  () => {
    it('backs up and restores, and refuses invalid requests in one line', async () => {
      server = await startServer(settings)
      const file = join(storage.dataDir, 'backups', 'one.stet')
      const busy = await runServer(settings, 'restore', file)
      expect(busy).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^stet-server: .* is in use by process .*\n$/),
      })
      server.child.kill('SIGTERM')
      await server.ended
      const key = /^admin API key: (\S+)/m.exec(server.stdout)?.[1] ?? ''

      expect(await runServer(settings, 'backup', file)).toMatchObject({ code: 0, stdout: writtenTo(file) })
      const directory = join(storage.dataDir, 'db')
      const refused = await runServer(settings, 'restore', file)
      expect(refused).toMatchObject({ code: 1, stderr: `stet-server: There is a database in ${directory} already\n` })
      await rm(directory, { recursive: true })
      const absent = await runServer(settings, 'restore', `${file}.absent`)
      expect(absent).toMatchObject({ code: 1, stderr: expect.stringMatching(/^stet-server: ENOENT: .*\n$/) })
      expect(await runServer(settings, 'restore', file)).toMatchObject({ code: 0, stdout: restoredFrom(file) })
      expect(await identityOf(key)).toMatchObject({ status: 200 })
    })
  },
)

const counted = String.raw`\(\d+ tables, \d+ rows\)\n$`
const writtenTo = (file: string) => expect.stringMatching(new RegExp(`^backed up to ${file} ${counted}`))
const restoredFrom = (file: string) => expect.stringMatching(new RegExp(`^restored from ${file} ${counted}`))

describe.skipIf(process.env['STET_TEST_DATABASE_URL'] || process.platform === 'win32')(
  'stet-server backup while the server runs',
  { timeout: processTestMs },
  () => {
    let folder: string
    let file: string
    const workEntries = async () =>
      (await readdir(join(storage.dataDir, 'db'))).filter((name) => name.startsWith('stet-work-'))

    beforeEach(async () => {
      folder = join(storage.dataDir, 'backups')
      file = join(folder, 'one.tar.gz')
      await mkdir(folder)
      server = await startServer(settings)
    })

    /** Starts the command, and ends `victim` as soon as the command has received a part of the archive. */
    async function killDuringBackup(
      victim: (command: ChildProcess) => ChildProcess | undefined,
      signal: NodeJS.Signals,
    ) {
      const command = spawnServer(settings, ['backup', file])
      const ended = programEnd(command)
      const received = () =>
        stat(`${file}.part`).then(
          ({ size }) => size,
          () => 0,
        )
      await expect.poll(received, { interval: 1 }).toBeGreaterThan(0)
      victim(command)?.kill(signal)
      return ended
    }

    it('writes a verified file, which restores to a server with the same keys', async () => {
      const key = /^admin API key: (\S+)/m.exec(server?.stdout ?? '')?.[1] ?? ''
      await writeFile(file, 'an older backup')
      expect(await runServer(settings, 'backup', file)).toMatchObject({ code: 0, stdout: writtenTo(file), stderr: '' })
      expect(await readdir(folder)).toEqual(['one.tar.gz'])
      expect(await workEntries()).toEqual([])
      server?.child.kill('SIGKILL')
      await server?.ended
      await rm(join(storage.dataDir, 'db'), { recursive: true })
      expect(await runServer(settings, 'restore', file)).toMatchObject({ code: 0, stdout: restoredFrom(file) })
      expect(await identityOf(key)).toMatchObject({ status: 200 })
    })

    it.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
      'leaves nothing behind if the command gets %s',
      async (signal) => {
        expect(await killDuringBackup((command) => command, signal)).toMatchObject({ signal })
        await expect.poll(() => readdir(folder)).toEqual([])
        await expect.poll(workEntries).toEqual([])
        expect(await runServer(settings, 'backup', file)).toMatchObject({ code: 0 })
      },
    )

    it('fails in one line and keeps the older file if the server is killed', async () => {
      await writeFile(file, 'an older backup')
      const end = await killDuringBackup(() => server?.child, 'SIGKILL')
      const stderr = 'stet-server: The server stopped during the backup. Run the command again\n'
      expect(end).toMatchObject({ code: 1, stdout: '', stderr })
      expect(await readdir(folder)).toEqual(['one.tar.gz'])
      expect(await workEntries()).toEqual([])
    })

    it('does not keep the server from stopping', async () => {
      const end = await killDuringBackup(() => server?.child, 'SIGTERM')
      expect(await server?.ended).toMatchObject({ code: 0 })
      // The archive may have been complete before the signal.
      expect(end.stderr).toMatch(/^(stet-server: The server stopped during the backup. Run the command again\n)?$/)
      expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
    })

    it('names a missing permission of the target folder', async () => {
      const end = await runServer(settings, 'backup', '/proc/one.tar.gz')
      expect(end).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^stet-server: \S+/) })
      expect(await workEntries()).toEqual([])
    })
  },
)
