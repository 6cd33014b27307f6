import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isWellFormedApiKey } from '../../src/features/access/api-key.ts'
import { httpCall } from '../http/api-call.ts'
import { processTestMs, runServer, type ServerProcess, settingsFor, startServer } from '../support/server-process.ts'
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
      const busy = await runServer(settings, 'backup', file)
      expect(busy).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^stet-server: .* is in use by process .*\n$/),
      })
      server.child.kill('SIGTERM')
      await server.ended
      const key = /^admin API key: (\S+)/m.exec(server.stdout)?.[1] ?? ''

      expect(await runServer(settings, 'backup', file)).toMatchObject({ code: 0, stdout: `backed up to ${file}\n` })
      const directory = join(storage.dataDir, 'db')
      const refused = await runServer(settings, 'restore', file)
      expect(refused).toMatchObject({ code: 1, stderr: `stet-server: There is a database in ${directory} already\n` })
      await rm(directory, { recursive: true })
      const absent = await runServer(settings, 'restore', `${file}.absent`)
      expect(absent).toMatchObject({ code: 1, stderr: expect.stringMatching(/^stet-server: ENOENT: .*\n$/) })
      expect(await runServer(settings, 'restore', file)).toMatchObject({ code: 0, stdout: `restored from ${file}\n` })
      expect(await identityOf(key)).toMatchObject({ status: 200 })
    })
  },
)
