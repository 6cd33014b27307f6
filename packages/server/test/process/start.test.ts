import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compose } from '../../src/compose.ts'
import { readConfig } from '../../src/config.ts'
import { generateEncryptionKey, keepAdminKey, makeDataFolder } from '../../src/data-files.ts'
import { generateApiKey, isWellFormedApiKey } from '../../src/features/access/api-key.ts'
import { OperatorError } from '../../src/shared/app-error.ts'
import { httpCall } from '../http/api-call.ts'
import { processTestMs, runServer, type ServerProcess, settingsFor, startServer } from '../support/server-process.ts'
import { packageRoot, type TestDatabase, testDatabase } from '../support/test-database.ts'

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

async function stop(running: ServerProcess): Promise<void> {
  running.child.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
}

function keyIn(stdout: string): string {
  return /^admin API key: (\S+)/m.exec(stdout)?.[1] ?? ''
}

async function statusWith(running: ServerProcess, key: string): Promise<number> {
  const answer = await httpCall('GET', `${running.url}/api/v3/me`, { headers: { authorization: `Bearer ${key}` } })
  return answer.status
}

async function modesBelow(folder: string, except: RegExp): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true })
  const entries = all.filter(({ name }) => !except.test(name))
  const modes = entries.map(async (entry) => {
    const { mode } = await stat(join(entry.parentPath, entry.name))
    return `${entry.isDirectory() ? 'folder' : 'file'} ${(mode & 0o777).toString(8)}`
  })
  return [...new Set(await Promise.all(modes))].sort()
}

describe('start', { timeout: processTestMs }, () => {
  it('prints the first key once and a link that signs in once, becomes ready, and exits with 0 on SIGTERM', async () => {
    settings = { ...settings, STET_DATA_DIR: join(storage.dataDir, 'first-start') }
    server = await startServer({ ...settings, STET_PUBLIC_URL: 'https://stet.example.com/tools/' })
    const key = keyIn(server.stdout)
    expect(server.stdout).toMatch(
      /^created workspace default, project 1 default\nadmin API key: .*\nconsole: .*\nstet listening on /,
    )
    const line = /^console: (\S+)#(\S{43}) \(works once, for 15 minutes; later: stet console\)$/m.exec(server.stdout)
    const [, page, code] = line ?? []
    expect(page).toBe('https://stet.example.com/tools/sign-in')
    const signIn = () =>
      httpCall('POST', `${server?.url}/console/session`, { headers: { 'x-stet-console': '1' }, body: { code } })
    const first = await signIn()
    expect(first.body).toMatchObject({ apiKey: { scopes: ['admin'] } })
    expect(first.headers.getSetCookie()).toEqual([expect.stringMatching(/^__Host-stet-[0-9a-f]{6}=.*; Secure$/)])
    expect((await signIn()).status).toBe(401)
    if (!storage.databaseUrl) await expectSecondServerRefused(server)
    expect((await fetch(`${server.url}/ready`)).status).toBe(200)
    expect(await statusWith(server, key)).toBe(200)
    await stop(server)
    if (!storage.databaseUrl) await expectOwnFiles(settings['STET_DATA_DIR'] ?? '', key)

    server = await startServer(settings)
    expect(server.stdout).toBe(`console: ${server.url} (sign in: stet console)\nstet listening on ${server.url}\n`)
    expect(await statusWith(server, key)).toBe(200)
    await stop(server)
  })

  it('has no console with STET_CONSOLE=off, and warns about an unknown variable', async () => {
    const STET_GRACE_MILLIS = '5'
    server = await startServer({ ...settings, STET_CONSOLE: 'off', STET_LOG_LEVEL: 'warn', STET_GRACE_MILLIS })
    expect(server.stdout).not.toContain('console')
    const headers = { 'x-stet-console': '1' }
    for (const path of ['/console/session', '/console/sessions', '/console/links']) {
      expect((await httpCall('GET', `${server.url}${path}`, { headers })).status).toBe(404)
    }
    expect((await httpCall('POST', `${server.url}/console/session`, { headers, body: { code: 'x' } })).status).toBe(404)
    server.child.kill('SIGTERM')
    const { stderr } = await server.ended
    expect(JSON.parse(stderr.trim())).toMatchObject({
      level: 'warn',
      event: 'config.unknown-variable',
      variable: 'STET_GRACE_MILLIS',
      didYouMean: 'STET_GRACE_MS',
    })
  })

  it('names the source of a given admin key without printing the key', async () => {
    const key = generateApiKey()
    const config = readConfig({ STET_DATA_DIR: storage.dataDir })
    const file = join(storage.dataDir, 'admin.key')
    const made = 'created workspace default, project 1 default with the admin key of STET_ADMIN_KEY'
    const tenant = { workspaceId: 1, workspaceName: 'default', apiKeyId: 1, key, isGenerated: false }
    expect(keepAdminKey(config, tenant)).toBe(`${made}, also in ${file}`)
    expect(await readFile(file, 'utf8')).toBe(`${key}\n`)
    expect(keepAdminKey({ ...config, databaseUrl: 'postgres://unused' }, tenant)).toBe(made)
  })

  it('exits with one line if it cannot listen, has printed the first key and releases its lock', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const taken = await runServer({ ...settings, PORT: String(port) })
    await new Promise((resolve) => other.close(resolve))
    expect(taken).toMatchObject({
      code: 1,
      stderr: `stet-server: Port ${port} of 127.0.0.1 is in use; set PORT to another one\n`,
    })
    expect(isWellFormedApiKey(keyIn(taken.stdout))).toBe(true)
    const unknown = await runServer({ ...settings, HOST: 'no-such-host.invalid' })
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(unknown.stderr).toMatch(/^stet-server: Cannot listen on HOST no-such-host\.invalid, PORT 0 \(.*\)\n$/)
  })

  const twoProblems = { PORT: '70000', STET_LOG_LEVEL: 'loud' }
  const bothLines = [
    'PORT must be a whole number from 0 to 65535',
    'STET_LOG_LEVEL must be error, warn, info, debug or off',
  ]

  it.each([
    [twoProblems, bothLines.join('\n')],
    [
      { STET_ADMIN_KEY: 'short' },
      'STET_ADMIN_KEY is not a well-formed key; make one with: stet-server generate-key admin',
    ],
    [
      { STET_CORS_ORIGINS: 'https://a.example, *' },
      'STET_CORS_ORIGINS must be exact origins such as https://app.example.com, separated by commas',
    ],
    [{ DATABASE_URL: 'mysql://db' }, 'DATABASE_URL must start with postgres:// or postgresql://'],
    [
      { DATABASE_URL: 'postgres://db', STET_ENCRYPTION_KEY: '' },
      'STET_ENCRYPTION_KEY is required with DATABASE_URL; make one with: stet-server generate-key encryption',
    ],
    [
      { DATABASE_URL: 'postgres://db', STET_ENCRYPTION_KEY: 'dG9vIHNob3J0' },
      'STET_ENCRYPTION_KEY must be 32 bytes in base64; several keys are separated by commas',
    ],
  ])('refuses invalid settings, with one line for each: %o', (wrong, problems) => {
    expect(() => readConfig({ ...settings, ...wrong })).toThrow(new OperatorError(problems))
  })

  it('prints one line for each invalid setting, and one for a missing database', async () => {
    const stderr = bothLines.map((line) => `stet-server: ${line}\n`).join('')
    expect(await runServer({ ...settings, ...twoProblems })).toMatchObject({ code: 1, stdout: '', stderr })
    const STET_ENCRYPTION_KEY = generateEncryptionKey()
    const nowhere = { ...settings, STET_ENCRYPTION_KEY, DATABASE_URL: 'postgres://127.0.0.1:1/stet' }
    const away = 'stet-server: The database is not available; try again later'
    expect(await runServer(nowhere)).toMatchObject({
      code: 1,
      stderr: `${away} (connect ECONNREFUSED 127.0.0.1:1)\n`,
    })
    if (storage.databaseUrl === undefined) return
    const missing = new URL(storage.databaseUrl)
    missing.pathname = '/stet_missing'
    expect(await runServer({ ...settings, DATABASE_URL: missing.href })).toMatchObject({
      code: 1,
      stderr: `${away} (database "stet_missing" does not exist)\n`,
    })
  })

  it.skipIf(process.env['STET_TEST_DATABASE_URL'] || process.platform !== 'linux')(
    'fails immediately if its folder cannot be created',
    async () => {
      const file = join(storage.dataDir, 'file')
      await writeFile(file, '')
      const junk = join(storage.dataDir, 'junk')
      await mkdir(join(junk, 'db', 'other'), { recursive: true })
      for (const folder of ['/proc/stet', '/proc', file, join(file, 'below'), junk]) {
        const config = readConfig({ ...settings, STET_DATA_DIR: folder })
        const start = async () => {
          makeDataFolder(config)
          await compose(config)
        }
        const error = await start().catch((failure: unknown) => failure)
        // These errors are printed as one line.
        expect(error instanceof OperatorError || (error instanceof Error && 'syscall' in error), folder).toBe(true)
      }
      const { code, stderr } = await runServer({ ...settings, STET_DATA_DIR: junk })
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^stet-server: .+\n$/) })
    },
  )
})

async function expectSecondServerRefused({ child }: ServerProcess): Promise<void> {
  const { code, stdout, stderr } = await runServer(settings)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^stet-server: The database in \S+ is in use by process \d+ on \S+; only one .*\n$/)
  expect(stderr).toContain(`process ${child.pid} `)
}

/** Every user can read the template, so that a server works for a user other than its builder, but only the owner its copy. */
async function expectOwnFiles(dataDir: string, key: string): Promise<void> {
  expect(await readFile(join(dataDir, 'admin.key'), 'utf8')).toBe(`${key}\n`)
  const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8)
  for (const name of ['admin.key', 'encryption.key']) expect(await modeOf(join(dataDir, name))).toBe('600')
  expect(await modeOf(join(packageRoot, 'dist', 'database-template.tar.gz'))).toBe('644')
  // PGlite writes its cache files, `pg_internal.init`, with the mode of the umask. The folders protect them.
  expect(await modesBelow(join(dataDir, 'db'), /^pg_internal\.init$/)).toEqual(['file 600', 'folder 700'])
}
