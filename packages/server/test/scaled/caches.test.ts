/** Promise 18 with three servers: a request that begins after a write was answered sees it, on every server. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ApiAnswer } from '../http/api-call.ts'
import { browser } from '../http/console-call.ts'
import { issueKey } from '../http/scenario.ts'
import { prompt } from '../runs/run-bench.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { seededRandom } from '../support/random.ts'
import { openReplicas, type Replica, type Replicas } from '../support/replicas.ts'

const operations = count(18, 10_000)

let replicas: Replicas
let second: FakeProvider
beforeAll(async () => {
  replicas = await openReplicas(
    { hello: prompt('<user>text 0</user>') },
    { environment: { STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } },
  )
  second = await fakeProvider()
})
afterAll(async () => {
  await replicas.close()
  await second.close()
})

interface Write {
  on: Replica
  others: readonly Replica[]
  name: string
}

const ok = async <Body>(answer: Promise<ApiAnswer<Body>>) => {
  const { status, text, body } = await answer
  expect([200, 201], text).toContain(status)
  return body
}

/** Every server runs and reads the live prompt with this text. */
async function expectLive(servers: readonly Replica[], text: string): Promise<void> {
  const { fake, project } = replicas
  await Promise.all(
    servers.map(async ({ api }) => {
      const { content } = await ok(api('GET', `${project.live}/documents/hello`))
      expect(content).toContain(text)
    }),
  )
  for (const { run } of servers) {
    expect(await run('hello')).toMatchObject({ status: 200 })
    expect(JSON.stringify(fake.requests.at(-1)?.body['messages'])).toContain(text)
  }
}

/** The status of the page's session on another server. */
const sessionOn = async ({ url }: Replica, cookie: string | undefined) =>
  (await Object.assign(browser(url), { cookie }).call('GET', '/console/session')).status

/** Each warms the cache of every server, writes on one of them, and reads on the others immediately. */
const writes: Record<string, (write: Write) => Promise<void>> = {
  'a new prompt in a draft': async ({ on, others, name }) => {
    const draft = await replicas.project.newDraft()
    await Promise.all(others.map(({ api }) => ok(api('GET', `${draft}/documents`))))
    await ok(on.api('POST', `${draft}/documents`, { body: { path: name, prompt: 'New' } }))
    for (const { api } of others) {
      expect(await ok(api('GET', `${draft}/documents/${name}`))).toMatchObject({ path: name })
      expect(JSON.stringify(await ok(api('GET', `${draft}/documents`)))).toContain(name)
    }
  },
  'a saved prompt': async ({ on, others, name }) => {
    const draft = await replicas.project.newDraft()
    const path = `${draft}/documents/hello`
    await Promise.all(others.map(({ api }) => ok(api('GET', path))))
    const body = { path: 'hello', prompt: prompt(`<user>${name}</user>`) }
    await ok(on.api('POST', `${draft}/documents/create-or-update`, { body }))
    for (const { api } of others) expect((await ok(api('GET', path)))['content']).toContain(name)
  },
  'a published version': async ({ on, others, name }) => {
    const draft = await replicas.project.newDraft()
    const body = { path: 'hello', prompt: prompt(`<user>${name}</user>`) }
    await ok(on.api('POST', `${draft}/documents/create-or-update`, { body }))
    await ok(on.api('POST', `${draft}/publish`))
    await expectLive(others, name)
  },
  'a forced edit of the live version': async ({ on, others, name }) => {
    const body = { path: 'hello', prompt: prompt(`<user>${name}</user>`), force: true }
    await ok(on.api('POST', `${replicas.project.live}/documents/create-or-update`, { body }))
    await expectLive(others, name)
  },
  'a revoked key': async ({ on, others, name }) => {
    const { id, key } = await ok(on.api('POST', '/api-keys', { body: { name } }))
    const me = ({ api }: Replica) => api('GET', '/me', { key: String(key) })
    for (const other of others) await ok(me(other))
    await ok(on.api('DELETE', `/api-keys/${String(id)}`))
    for (const other of others) expect((await me(other)).status).toBe(401)
  },
  'a session of a revoked key': async ({ on, others, name }) => {
    const { id, key } = await ok(on.api('POST', '/api-keys', { body: { name } }))
    const page = browser(on.url)
    await ok(page.signIn({ apiKey: String(key) }))
    for (const other of others) expect(await sessionOn(other, page.cookie)).toBe(200)
    await ok(on.api('DELETE', `/api-keys/${String(id)}`))
    for (const other of others) expect(await sessionOn(other, page.cookie)).toBe(401)
  },
  'an ended session': async ({ on, others }) => {
    const page = browser(on.url)
    await ok(page.signIn({ apiKey: await issueKey(on.api, {}) }))
    const { cookie } = page
    for (const other of others) expect(await sessionOn(other, cookie)).toBe(200)
    expect((await page.call('DELETE', '/console/session')).status).toBe(204)
    for (const other of others) expect(await sessionOn(other, cookie)).toBe(401)
  },
  'a key with another limit': async ({ on, others }) => {
    const key = await issueKey(on.api, { plan: 'custom', limit: 7 })
    for (const { api } of others) {
      const answer = await api('GET', '/me', { key })
      expect([answer.status, answer.headers.get('x-ratelimit-limit')]).toEqual([200, '7'])
    }
  },
  'a changed provider key': async ({ on, others, name }) => {
    const draft = await replicas.project.newDraft()
    const created = { name, provider: 'custom', token: 'sk-0123456789abcdef', url: replicas.fake.url }
    const { id } = await ok(on.api('POST', '/provider-api-keys', { body: created }))
    const text = `---\nprovider: ${name}\nmodel: m\n---\n<user>Hi</user>`
    await ok(on.api('POST', `${draft}/documents`, { body: { path: name, prompt: text } }))
    const run = ({ api }: Replica) => ok(api('POST', `${draft}/documents/run`, { body: { path: name } }))
    for (const other of others) await run(other)
    await ok(on.api('PUT', `/provider-api-keys/${String(id)}`, { body: { url: second.url, token: created.token } }))
    for (const other of others) {
      const before = second.requests.length
      await run(other)
      expect(second.requests.length).toBe(before + 1)
    }
  },
}

it(
  `promise 18: ${operations} writes on one server are seen at once on the others`,
  async () => {
    const random = seededRandom(seed)
    const kinds = Object.entries(writes)
    for (let made = 0; made < operations; made += 1) {
      const on = Math.floor(random() * 3)
      const [kind, write] = kinds[made % kinds.length] ?? []
      const others = [0, 1, 2].filter((place) => place !== on).map(replicas.server)
      try {
        await write?.({ on: replicas.server(on), others, name: `written-${made}-` })
      } catch (error) {
        throw new Error(`${kind} on server ${on} (write ${made}, seed ${seed})`, { cause: error })
      }
    }
  },
  timeFor(operations, 1_000),
)
