import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { backupEmbedded } from '../../src/adapters/database/embedded-files.ts'
import { apiCaller } from '../http/api-call.ts'
import { type Api, createTestProject } from '../http/scenario.ts'
import { prompt } from '../runs/run-bench.ts'
import { runCalls, textOf } from '../runs/run-calls.ts'
import { openTestDatabase } from '../support/database-open.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import { gate } from '../support/gate.ts'
import { isSkippedWithoutTmpfs, type PrivateMount, tmpfsOf } from '../support/private-mount.ts'
import { processTestMs, runServer, type ServerProcess, settingsFor, startServer } from '../support/server-process.ts'
import { embeddedTemplate } from '../support/test-database.ts'

const skips = isSkippedWithoutTmpfs('the embedded database on a full disk')

describe.skipIf(skips)('backup without enough disk space', () => {
  const mounts: PrivateMount[] = []
  const mount = (megabytes: number) => {
    const made = tmpfsOf(megabytes)
    mounts.push(made)
    return made
  }
  afterEach(() => {
    for (const made of mounts.splice(0)) made.close()
  })

  it('is refused before it writes anything, and respects the disk floor', async () => {
    const own = mount(150)
    const small = mount(8)
    await cp(await embeddedTemplate(), join(own.path, 'db'), { recursive: true })
    const database = await openTestDatabase({ dataDir: own.path }, { diskFloorBytes: 32 * 1024 * 1024 })
    const backup = (folder: string) => database.backup?.(join(folder, 'a.tar.gz'))
    await expect(backup(small.path)).rejects.toThrow(/takes up to \d+ MB on the disk of \S+, which has 8 MB free/)
    own.fill(50 * 1024 * 1024)
    await expect(backup(own.path)).rejects.toThrow(/takes up to \d+ MB on the disk of \S+, which has 50 MB free/)
    const other = mount(100)
    await backup(other.path)
    own.empty()
    await backup(own.path)
    await database.close()
    expect((await readdir(own.path)).sort()).toEqual(['a.tar.gz', 'db'])
    expect(await readdir(small.path)).toEqual([])

    const command = (folder: string) => backupEmbedded(join(own.path, 'db'), join(folder, 'b.tar.gz'))
    await expect(command(small.path)).rejects.toThrow(/takes up to \d+ MB on the disk of \S+, which has 8 MB free/)
    // Verifying a backup unpacks it on the database disk.
    own.fill(10 * 1024 * 1024)
    await expect(command(other.path)).rejects.toThrow(`on the disk of ${own.path}/db`)
    expect(await readdir(other.path)).toEqual(['a.tar.gz'])
  })
})

describe.skipIf(skips)('server on a full disk', { timeout: processTestMs }, () => {
  let mount: PrivateMount
  let settings: Record<string, string>
  let server: ServerProcess | undefined

  beforeEach(() => {
    mount = tmpfsOf(400)
    settings = { ...settingsFor({ dataDir: mount.path }), STET_LOG_LEVEL: 'off' }
  })
  afterEach(async () => {
    server?.child.kill('SIGKILL')
    await server?.ended
    mount.close()
  })

  it('stores the ends of runs below the floor, and says so in streams and responses if it cannot', async () => {
    const fake = await fakeProvider()
    onTestFinished(() => fake.close())
    settings = { ...settings, OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: fake.url, STET_DRAIN_SECONDS: '1' }
    server = await startServer(settings)
    const key = (await readFile(join(mount.path, 'admin.key'), 'utf8')).trim()
    const { live } = await createTestProject(apiCaller(server.url, key), { hello: prompt('<user>Hi</user>') })
    const calls = runCalls({ url: server.url, key, live })
    const underWay = async () => {
      const { opened, open } = gate()
      const before = fake.requests.length
      fake.enqueue({ text: 'Paid for.', gate: opened }, { text: 'Paid for.', gate: opened })
      const runs = { stream: calls.stream('hello'), json: calls.run('hello'), open }
      await fake.waitForRequest(before + 2)
      return runs
    }
    const fillUp = async (megabytes: number) => {
      mount.fill(megabytes * 1024 * 1024)
      await expect.poll(async () => (await fetch(`${server?.url}/ready`)).status).toBe(503)
    }

    const kept = await underWay()
    await fillUp(200)
    kept.open()
    expect(textOf(await kept.stream)).toBe('Paid for.')
    const answer = await kept.json
    expect(answer).toMatchObject({ status: 200, body: { response: { text: 'Paid for.' } } })
    expect(await calls.conversation(answer.body['uuid'])).toMatchObject({ status: 'completed' })
    expect(await calls.run('hello')).toMatchObject({ status: 503, body: { reason: 'disk-full' } })

    mount.empty()
    await expect.poll(async () => (await fetch(`${server?.url}/ready`)).status).toBe(200)
    const lost = await underWay()
    await fillUp(100)
    lost.open()
    server.child.kill('SIGTERM')
    expect((await lost.stream).last).toMatchObject({
      type: 'chain-error',
      error: { errorCode: 'unknown_error', details: { reason: 'run-not-stored' } },
    })
    expect(await lost.json).toMatchObject({ status: 500, body: { reason: 'run-not-stored' } })
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' })
  })

  it('starts read-only below the floor, calls no provider, recovers once space is free, and exits on a full disk', async () => {
    const fake = await fakeProvider()
    onTestFinished(() => fake.close())
    settings = { ...settings, OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: fake.url }
    server = await startServer(settings)
    const key = (await readFile(join(mount.path, 'admin.key'), 'utf8')).trim()
    const call: Api = (...args) => apiCaller(server?.url ?? '', key)(...args)
    const { live } = await createTestProject(call, { hello: prompt('<user>Hi</user>') })
    const run = (body = {}, headers = {}) =>
      call('POST', `${live}/documents/run`, { body: { path: 'hello', ...body }, headers })
    const { body } = await run()
    const messages = [{ role: 'user', content: 'More' }]
    const chat = () => call('POST', `/conversations/${String(body['uuid'])}/chat`, { body: { messages } })
    server.child.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' })

    mount.fill(100 * 1024 * 1024)
    server = await startServer(settings)
    const readiness = () => fetch(`${server?.url}/ready`)
    const notReady = await readiness()
    expect(notReady.status).toBe(503)
    expect(await notReady.json()).toMatchObject({ details: { checks: { database: true, disk: false } } })
    expect((await call('GET', '/projects')).status).toBe(200)
    const create = (name: string) => call('POST', '/projects', { body: { name } })
    expect(await create('too much')).toMatchObject({ status: 503, body: { reason: 'disk-full' } })
    const keyed = { 'idempotency-key': 'a' }
    const runs = [run(), run({}, keyed), run({ stream: true }), run({ background: true }), chat()]
    for (const answer of await Promise.all(runs)) {
      expect(answer).toMatchObject({ status: 503, body: { name: 'ServiceUnavailableError' } })
      expect(answer.headers.get('retry-after')).not.toBeNull()
    }
    expect(fake.requests).toHaveLength(1)
    mount.empty()
    await expect.poll(async () => (await readiness()).status).toBe(200)
    expect((await create('fits')).status).toBe(201)
    for (const answer of [await run(), await run({}, keyed), await chat()])
      expect(answer).toMatchObject({ status: 200 })
    expect(fake.requests).toHaveLength(4)

    mount.fill()
    server.child.kill('SIGTERM')
    // The last checkpoint has no space, so the engine panics unless the file system had a little left.
    const { code, signal, stderr } = await server.ended
    if (code !== 0) {
      expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' })
      expect(stderr).toMatch(/^stet: the embedded database stops because [^\n]*No space left on device[^\n]*\n$/)
    }
    mount.fill()
    const before = await readdir(join(mount.path, 'db'))
    expect(await runServer(settings)).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: `stet-server: The disk of ${mount.path}/db has 0 MB free, and opening the database takes 16 MB: free some space, and start again\n`,
    })
    expect(await readdir(join(mount.path, 'db'))).toEqual(before)
    mount.empty()
    server = await startServer(settings)
    expect((await readiness()).status).toBe(200)
  })
})
