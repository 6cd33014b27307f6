import { once } from 'node:events'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isWellFormedApiKey } from '../../src/features/access/api-key.ts'
import { runOperatorCommand } from '../../src/operator-commands.ts'
import { httpCall } from '../http/api-call.ts'
import { programEnd, startProgram } from '../support/child-program.ts'
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

/** Runs the command in this process. */
async function command(environment: Record<string, string>, ...args: string[]) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockReturnValue(true))
  try {
    const code = await runOperatorCommand(args[0] ?? '', args.slice(1))
    const [stdout = '', stderr = ''] = spies.map(({ mock }) => mock.calls.map(([chunk]) => String(chunk)).join(''))
    return { code, stdout, stderr }
  } finally {
    for (const spy of spies) spy.mockRestore()
    vi.unstubAllEnvs()
  }
}

async function workspaceOf(key: string): Promise<unknown> {
  const { body } = await httpCall('GET', `${server?.url}/api/v3/me`, { headers: { authorization: `Bearer ${key}` } })
  return body['workspace']
}

async function stop(): Promise<string> {
  server?.child.kill('SIGTERM')
  const end = await server?.ended
  expect(end).toMatchObject({ code: 0 })
  return end?.stdout ?? ''
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
  ])('runs %s without settings and creates no folder', async (args, code, stdout) => {
    const folder = join(storage.dataDir, 'new')
    const end = await command({ PORT: 'wrong', STET_DATA_DIR: folder }, ...args)
    expect(end).toMatchObject({ code, stdout: expect.stringMatching(stdout) })
    expect(end.stderr.startsWith('stet-server [start]\n')).toBe(code === 2)
    expect(await readdir(storage.dataDir)).not.toContain('new')
  })

  it('exits with 2 and its usage for an unknown command', async () => {
    const end = await runServer({ PORT: 'wrong', STET_DATA_DIR: join(storage.dataDir, 'new') }, 'no-such-command')
    expect(end).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^stet-server \[start\]\n/) })
    expect(await readdir(storage.dataDir)).not.toContain('new')
  })

  it('backs up and restores, makes keys and workspaces, and reports failures in one line', async () => {
    await expect(command(settings, 'new-admin-key')).rejects.toThrow('Workspace not found')
    server = await startServer(settings)
    if (!storage.databaseUrl) await backUp()
    const first = /^admin API key: (\S+)/m.exec(await stop())?.[1] ?? ''
    if (!storage.databaseUrl) await restore()
    const own = await command(settings, 'new-admin-key')
    expect(own).toMatchObject({ code: 0, stderr: 'admin API key of workspace default (shown once):\n' })
    expect(isWellFormedApiKey(own.stdout.trim())).toBe(true)
    const made = await runServer(settings, 'workspace', 'create', 'second')
    expect(made).toMatchObject({ code: 0, stderr: 'admin API key of workspace second (shown once):\n' })
    const again = command(settings, 'workspace', 'create', 'second')
    await expect(again).rejects.toThrow("A workspace named 'second' already exists")
    server = await startServer(settings)
    for (const [key, name] of [
      [first, 'default'],
      [own.stdout.trim(), 'default'],
      [made.stdout.trim(), 'second'],
    ] as const) {
      expect(await workspaceOf(key)).toMatchObject({ name })
    }
    if (!storage.databaseUrl) await killDuringBackup(server)
  })
})

const backups = () => join(storage.dataDir, 'backups')
const backup = () => join(backups(), 'one.tar.gz')
const counted = String.raw`\(\d+ tables, \d+ rows\)\n$`

/** No command leaves anything besides its backup. */
async function expectOnlyBackup(): Promise<void> {
  expect(await readdir(backups())).toEqual(['one.tar.gz'])
  const names = await readdir(join(storage.dataDir, 'db'))
  expect(names.filter((name) => name.startsWith('stet-work-'))).toEqual([])
}

async function backUp(): Promise<void> {
  await mkdir(backups())
  await writeFile(backup(), 'an older backup')
  expect(await runServer(settings, 'backup', backup())).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^backed up to ${backup()} ${counted}`)),
    stderr: '',
  })
  await expectOnlyBackup()
  await expect(command(settings, 'backup', '/proc/one.tar.gz')).rejects.toThrow('/proc')
  await expect(command(settings, 'restore', backup())).rejects.toThrow(/ is in use by process /)
}

async function restore(): Promise<void> {
  await rm(join(storage.dataDir, 'db'), { recursive: true })
  expect(await runServer(settings, 'restore', backup())).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`^restored from ${backup()} ${counted}`)),
  })
}

/** The command waits in the middle of the archive until the server is dead, fails, and keeps the older backup. */
async function killDuringBackup({ child, ended }: ServerProcess): Promise<void> {
  const waiting = startProgram('backup-child.ts', 'backup', join(storage.dataDir, 'db'), backup())
  const failed = programEnd(waiting)
  await once(waiting, 'message')
  child.kill('SIGKILL')
  await ended
  waiting.stdin?.end()
  expect(await failed).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The server stopped during the backup. Run the command again'),
  })
  await expectOnlyBackup()
}

describe.runIf(process.env['STET_TEST_DATABASE_URL'])('stet-server on PostgreSQL', () => {
  it.each(['backup', 'restore'])('refuses %s and creates no folder', async (name) => {
    const folder = join(storage.dataDir, 'new')
    await expect(command({ ...settings, STET_DATA_DIR: folder }, name, join(folder, 'file'))).rejects.toThrow(
      'backup and restore are for the embedded database; use pg_dump with DATABASE_URL',
    )
    expect(await readdir(storage.dataDir)).not.toContain('new')
  })
})
