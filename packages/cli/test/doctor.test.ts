import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { clockOf } from '../src/commands/doctor/checks.ts'
import { judge, type StreamTimes } from '../src/commands/doctor/streaming.ts'
import { startProxy } from './support/proxy.ts'
import { loggedIn, server } from './support/shared-server.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const echo = '---\nprovider: demo\nmodel: demo\n---\n<user>Say a few words.</user>\n'

async function personWithPrompt(name: string, text = echo): Promise<Person> {
  const person = await loggedIn()
  await mkdir(join(person.folder, 'prompts'))
  await writeFile(join(person.folder, 'prompts/echo.promptl'), text)
  expect(await person.stet(['init', '--create', name])).toMatchObject({ code: 0 })
  expect(await person.stet(['push', '--publish', '--yes'])).toMatchObject({ code: 0 })
  return person
}

async function findingsOf(person: Person, args: readonly string[] = [], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await person.stet(['doctor', '--json', ...args], '', env)
  const { findings }: { findings: { name: string; status: string; message: string }[] } = JSON.parse(stdout)
  return { code, stderr, of: (name: string) => findings.find((one) => one.name === name) }
}

test('a healthy project passes every check, including the live stream', async () => {
  const person = await personWithPrompt('healthy')
  const before = await findingsOf(person)
  expect(before.code).toBe(0)
  expect(before.of('stream')).toMatchObject({ status: 'skip', message: expect.stringContaining('--prompt') })
  const live = await findingsOf(person, ['--prompt', 'echo'])
  for (const name of ['node', 'config', 'lock', 'prompts', 'server', 'clock', 'auth', 'project', 'stream']) {
    expect(live.of(name), name).toMatchObject({ status: 'ok' })
  }
  expect(live.of('types')).toMatchObject({ status: 'skip' })
  const replayed = await person.stet(['doctor'])
  expect(replayed).toMatchObject({ code: 0, stderr: '' })
  expect(replayed.stdout).toMatch(/^✔ node {4}node \d+\.\d+\.\d+ · stet \d+\.\d+\.\d+ · sdk \d+\.\d+\.\d+$/m)
  expect(replayed.stdout).toMatch(/^✔ stream {2}a finished run arrives as a stream/m)
})

test('without a key, the server check passes and the key check fails', async () => {
  const person = new Person(await temporaryFolder(), server)
  const { code, of } = await findingsOf(person)
  expect(code).toBe(1)
  expect(of('server')).toMatchObject({ status: 'ok' })
  expect(of('auth')).toMatchObject({ status: 'fail', message: expect.stringMatching(/^No API key · /) })
})

test('a proxy that buffers event streams is detected', async () => {
  const person = await personWithPrompt('collected')
  const proxy = await startCollectingProxy(false)
  const env = { STET_API_KEY: server.adminKey, STET_BASE_URL: proxy, STET_PROFILE: 'proxied' }
  const { projectId } = JSON.parse(await readFile(join(person.folder, 'stet.config.json'), 'utf8'))
  const { code, of } = await findingsOf(person, ['--prompt', 'echo'], { ...env, STET_PROJECT_ID: String(projectId) })
  expect(of('stream')).toMatchObject({ status: 'fail', message: expect.stringContaining('a proxy seems to') })
  expect(code).toBe(1)
})

// The demo provider takes at least 4 ms for two words. Each of these steps has more than a hundred words.
const step = `<step><user>${'word '.repeat(80)}</user></step>\n`
const longRun = `---\nprovider: demo\nmodel: demo\n---\n${step.repeat(5)}`

test('a burst of events is measured a second time, because the machine may have been paused', async () => {
  const person = await personWithPrompt('stood still', longRun)
  const proxy = await startCollectingProxy(true)
  const { projectId } = JSON.parse(await readFile(join(person.folder, 'stet.config.json'), 'utf8'))
  const env = {
    STET_API_KEY: server.adminKey,
    STET_BASE_URL: proxy,
    STET_PROFILE: 'late',
    STET_PROJECT_ID: String(projectId),
  }
  const { of } = await findingsOf(person, ['--prompt', 'echo'], env)
  expect(of('stream')).toMatchObject({ status: 'ok', message: expect.stringContaining('arrive live') })
})

test('a failed check is reported, and the other checks still run', async () => {
  const person = await personWithPrompt('broken')
  await writeFile(join(person.folder, 'prompts/bad.promptl'), 'Broken {{ if x }}\n')
  const key = await anotherKey(person)
  const { code, of, stderr } = await findingsOf(person, [], { STET_API_KEY: key })
  expect(code).toBe(1)
  expect(of('prompts')).toMatchObject({ status: 'fail', message: expect.stringMatching(/^1 error, first bad:1 /) })
  expect(of('auth')).toMatchObject({ status: 'fail', message: expect.stringContaining('stet login') })
  expect(stderr).not.toContain(key)
  const gone = await findingsOf(person, ['--no-retry'], { STET_BASE_URL: 'http://127.0.0.1:1', STET_PROFILE: 'gone' })
  expect(gone.of('lock')).toMatchObject({ status: 'warn' })
  expect(gone.of('server')).toMatchObject({ status: 'fail' })
  expect(gone.of('auth')).toBeUndefined()
  await writeFile(join(person.folder, 'stet.config.json'), '{"nope": 1}')
  const unread = await findingsOf(person)
  expect(unread.of('config')).toMatchObject({ status: 'fail', message: expect.stringContaining('unknown key "nope"') })
  expect(unread.of('node')).toMatchObject({ status: 'ok' })
})

test('a slow or broken connection does not hang the doctor', async () => {
  const person = await personWithPrompt('held')
  const proxy = await startProxy(server.address)
  onTestFinished(() => proxy.stop())
  proxy.held = /health/
  const env = { STET_API_KEY: server.adminKey, STET_BASE_URL: proxy.address, STET_PROFILE: 'held' }
  const { code, of } = await findingsOf(person, ['--timeout', '1', '--no-retry'], env)
  expect(code).toBe(1)
  expect(of('server')).toMatchObject({ status: 'fail' })
})

const times: StreamTimes = {
  startedAt: 0,
  firstAt: 100,
  lastAt: 2000,
  madeMs: 1900,
  contentType: 'text/event-stream',
  hasLength: false,
}

test.each([
  [times, true, 'ok', 'arrive live'],
  [{ ...times, firstAt: 1990 }, true, 'fail', 'all events arrived at once after 2.0 s'],
  [{ ...times, firstAt: 1990 }, false, 'ok', 'a finished run'],
  [{ ...times, firstAt: 200, lastAt: 210, madeMs: 10 }, true, 'ok', 'too short'],
  // The run started late.
  [{ ...times, firstAt: 1990, madeMs: 10 }, true, 'ok', 'too short'],
  [{ ...times, hasLength: true }, false, 'fail', 'content length'],
  [{ ...times, contentType: 'text/html' }, true, 'fail', 'text/html'],
  [undefined, true, 'fail', 'no event'],
])('the verdict on %j, live %s', (seen, isLive, status, text) => {
  expect(judge(seen, isLive)).toMatchObject({ status, message: expect.stringContaining(text) })
})

test.each([
  [41_000, 'warn', 'server is 41 s ahead of'],
  [-90_000, 'warn', 'server is 90 s behind'],
  [3_000, 'ok', 'in sync'],
])('a clock that differs by %d ms', (difference, status, text) => {
  const now = Date.now()
  expect(clockOf(now + difference, now, 10)).toMatchObject({ status, message: expect.stringContaining(text) })
})

async function anotherKey(person: Person): Promise<string> {
  const made = await person.stet(['keys', 'create', 'short-lived', '--scopes', 'read'])
  const key = made.stdout.trim()
  expect(await person.stet(['keys', 'revoke', key.slice(0, 9), '--yes'])).toMatchObject({ code: 0 })
  return key
}

/** Collects event streams: all with a length, or only the first run, without one. */
async function startCollectingProxy(isFirstRunOnly: boolean): Promise<string> {
  const proxy = await startProxy(server.address)
  onTestFinished(() => proxy.stop())
  let runs = 0
  proxy.collects = (url) => {
    if (url.endsWith('/run')) runs += 1
    if (!isFirstRunOnly) return { hasLength: true }
    return url.endsWith('/run') && runs === 1 ? { hasLength: false } : undefined
  }
  return proxy.address
}
