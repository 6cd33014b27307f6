import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'
import { type ApiAnswer, httpCall } from './api-call.ts'
import { type Browser, browser, codeOf } from './console-call.ts'
import { type Api, createTestProject, issueKey, openTenant } from './scenario.ts'

let bench: RunBench
let api: Api
let url: string

beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi</user>') })
  api = bench.api
  url = bench.server.url
})
afterAll(() => bench.close())

const createLink = (key: string, body: Record<string, unknown> = {}) =>
  httpCall('POST', `${url}/console/links`, { body, headers: { authorization: `Bearer ${key}` } })

const idOf = async (key: string): Promise<number> => {
  const { apiKey } = (await api<{ apiKey: { id: number } }>('GET', '/me', { key })).body
  return apiKey.id
}

async function signedIn(key: string): Promise<Browser & { id: number }> {
  const page = browser(url)
  const { status, text, body } = await page.signIn({ apiKey: key })
  expect(status, text).toBe(201)
  return Object.assign(page, { id: Number(body['id']) })
}

const statusOf = async (page: Browser) => (await page.call('GET', '/console/session')).status

const refusedBody = {
  name: 'UnauthorizedError',
  message: expect.any(String),
  errorCode: 'UnauthorizedError',
  reason: 'sign-in-refused',
  details: {},
}

describe('signing in', () => {
  it('with an API key returns the session and sets a cookie', async () => {
    const page = browser(url)
    const answer = await page.signIn({ apiKey: bench.key })
    expect(answer.status, answer.text).toBe(201)
    expect(answer.body).toMatchObject({
      apiKey: { id: await idOf(bench.key), scopes: ['admin'] },
      workspace: { id: 1, name: 'default' },
      database: process.env['STET_TEST_DATABASE_URL'] ? 'postgresql' : 'embedded',
    })
    const form = /^stet-[0-9a-f]{6}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(form)])
    const shown = await page.call('GET', '/console/session')
    expect(shown.body).toMatchObject({ id: answer.body['id'], expiresAt: answer.body['expiresAt'] })
    expect(shown.headers.getSetCookie()).toEqual([])
    expect((await page.call('GET', '/api/v3/me')).body).toMatchObject({ apiKey: { scopes: ['admin'] } })
  })

  it('names the people whose keys can manage the workspace', async () => {
    const create = async (name: string, body: Record<string, unknown>) => {
      const author = { name, email: `${name.toLowerCase()}@example.com` }
      const { status, text, body: key } = await api('POST', '/api-keys', { body: { name, author, ...body } })
      expect(status, text).toBe(201)
      return { id: Number(key['id']), author }
    }
    const admin = { scopes: ['read', 'admin'] }
    const zoe = await create('Zoe', admin)
    await create('Zoe', admin)
    const amy = await create('Amy', admin)
    await create('Editor', { scopes: ['read', 'write'] })
    await create('Restricted', { ...admin, projectId: (await createTestProject(api)).id })
    const revoked = await create('Revoked', admin)
    await api('DELETE', `/api-keys/${revoked.id}`)
    const expired = await create('Expired', { ...admin, expiresAt: new Date(Date.now() + 1500).toISOString() })
    const isListed = async () => {
      const keys = (await api<{ id: number; expiresAt: string }[]>('GET', '/api-keys')).body
      return keys.some(({ id, expiresAt }) => id === expired.id && Date.parse(expiresAt) > Date.now())
    }
    await expect.poll(isListed).toBe(false)
    const page = await signedIn(await issueKey(api, { scopes: ['read'] }))
    const { admins } = (await page.call<{ admins: object[] }>('GET', '/console/session')).body
    expect(admins).toEqual([
      { id: expect.any(Number), ...amy.author },
      { id: expect.any(Number), ...zoe.author },
    ])
  })

  it('keeps the token nowhere but in the cookie', async () => {
    const page = await signedIn(await issueKey(api, {}))
    const token = page.cookie?.split('=')[1] ?? ''
    const stored = await bench.server.deps.stores.sessions.findOptional(1, page.id)
    expect(JSON.stringify(stored)).not.toContain(token)
    expect(stored?.tokenHash).toMatch(/^[0-9a-f]{64}$/)
    expect((await page.call('GET', '/console/session')).text).not.toContain(token)
  })

  it('makes a new token each time, and ends the session that it replaces', async () => {
    const key = await issueKey(api, {})
    const page = await signedIn(key)
    const before = browser(url)
    before.cookie = page.cookie
    expect((await page.signIn({ apiKey: key })).status).toBe(201)
    expect(page.cookie).not.toBe(before.cookie)
    expect([await statusOf(page), await statusOf(before)]).toEqual([200, 401])
  })

  it('shows who a code signs in, without using it', async () => {
    const key = await issueKey(api, { name: 'Ana', scopes: ['read', 'run'] })
    const code = await codeOf(createLink(key))
    const page = browser(url)
    for (let time = 0; time < 2; time += 1) {
      const answer = await page.signIn({ code, peek: true })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.body).toEqual({
        workspace: { id: 1, name: 'default' },
        author: { id: expect.any(Number), name: 'Ana', email: 'ana@localhost' },
        scopes: ['read', 'run'],
      })
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    expect((await page.signIn({ code })).body).toMatchObject({ apiKey: { name: 'Ana' } })
  })

  it('gives every refused code and key the same response', async () => {
    const made = await api('POST', '/api-keys', { body: { name: 'short' } })
    const { id, key } = made.body as unknown as { id: number; key: string }
    const ended = await codeOf(createLink(key))
    expect((await api('DELETE', `/api-keys/${id}`)).status).toBe(200)
    const used = await codeOf(createLink(bench.key))
    await browser(url).signIn({ code: used })
    const codes = ['', 'short', 'A'.repeat(43), used, ended]
    const bodies = [
      ...codes.flatMap((code) => [{ code }, { code, peek: true }]),
      ...['', 'stet_short', key, `${bench.key.slice(0, -1)}_`].map((apiKey) => ({ apiKey })),
    ]
    const answers = await Promise.all(bodies.map((body) => browser(url).signIn(body)))
    for (const { status, body, headers } of answers) {
      expect({ status, body }).toEqual({ status: 401, body: refusedBody })
      expect(headers.getSetCookie()).toEqual([])
    }
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  it('logs why it is refused, and for which key', async () => {
    const made = await api('POST', '/api-keys', { body: { name: 'short' } })
    const { id, key } = made.body as unknown as { id: number; key: string }
    const [used, ended] = [await codeOf(createLink(key)), await codeOf(createLink(key))]
    expect((await browser(url).signIn({ code: used })).status).toBe(201)
    expect((await api('DELETE', `/api-keys/${id}`)).status).toBe(200)
    const { logger } = bench.server.deps
    const { info } = logger
    const refusals: unknown[] = []
    logger.info = (event, fields) => {
      if (event === 'audit.session-refused') refusals.push(fields)
    }
    const credentials = [{ code: used }, { code: ended }, { apiKey: key }, { apiKey: generateApiKey() }]
    try {
      for (const credential of credentials) await browser(url).signIn(credential)
    } finally {
      logger.info = info
    }
    const ofKey = { workspaceId: 1, apiKeyId: id, address: '127.0.0.1' }
    expect(refusals).toEqual([
      { ...ofKey, reason: 'used-code' },
      { ...ofKey, reason: 'ended-key' },
      { ...ofKey, reason: 'ended-key' },
      { reason: 'unknown-key', address: '127.0.0.1' },
    ])
  })

  it('costs a request of the key, and a refusal does not use up a code', async () => {
    const key = await issueKey(api, { plan: 'custom', limit: 1 })
    const code = await codeOf(createLink(bench.key, { apiKeyId: await idOf(key), ttlSeconds: 600 }))
    // A busy machine may spread the requests over several windows.
    let refused: ApiAnswer | undefined
    while (!refused) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => browser(url).signIn({ apiKey: key })))
      refused = answers.find(({ status }) => status === 429)
    }
    expect(refused.body).toMatchObject({ reason: 'rate-limited', details: { limit: 1, retryAfter: 1 } })
    await expect.poll(async () => (await browser(url).signIn({ code })).status).toBe(201)
  })

  it('ends the oldest sessions of a key with more than 20, on the same server at once', async () => {
    const key = await issueKey(api, {})
    const [oldest, second] = [await signedIn(key), await signedIn(key)]
    expect([await statusOf(oldest), await statusOf(second)]).toEqual([200, 200])
    await Promise.all(Array.from({ length: 19 }, () => signedIn(key)))
    expect([await statusOf(oldest), await statusOf(second)]).toEqual([401, 200])
    const listed = await second.call('GET', '/console/sessions')
    expect(listed.body).toHaveLength(20)
  })

  it('sets the cookie even if a later step fails', async () => {
    const page = await signedIn(await issueKey(api, {}))
    const { sessions, workspaces } = bench.server.deps.stores
    const { findByToken } = sessions
    const { find } = workspaces
    const code = await codeOf(createLink(bench.key))
    sessions.findByToken = () => Promise.reject(new Error('closed for the test'))
    workspaces.find = () => Promise.reject(new Error('closed for the test'))
    try {
      expect((await page.signIn({ code })).status).toBe(500)
    } finally {
      Object.assign(sessions, { findByToken })
      Object.assign(workspaces, { find })
    }
    expect((await page.call('GET', '/console/session')).body).toMatchObject({ apiKey: { id: await idOf(bench.key) } })
  })

  it.each([{}, { code: 'x', apiKey: 'y' }, { apiKey: 'y', peek: true }, { code: 7 }])('refuses %j', async (body) => {
    expect((await browser(url).signIn(body)).body).toMatchObject({ name: 'BadRequestError' })
  })

  it('refuses a large body before it reads it', async () => {
    expect((await browser(url).signIn({ code: 'x'.repeat(20_000) })).body).toMatchObject({
      reason: 'body-too-large',
      details: { limit: 16_384 },
    })
  })
})

describe('a sign-in link', () => {
  it('opens one session, also if 10 requests use it at once', async () => {
    const code = await codeOf(createLink(await issueKey(api, {})))
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser(url).signIn({ code })))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array.from({ length: 9 }, () => 401)])
  })

  it('has the address of the server, and works for 60 seconds by default', async () => {
    const before = Date.now()
    const answer = await createLink(bench.key)
    expect(String(answer.body['url'])).toMatch(new RegExp(`^${url}/sign-in#[\\w-]{43}$`))
    const ttlMs = Date.parse(String(answer.body['expiresAt'])) - before
    expect(ttlMs).toBeGreaterThanOrEqual(60_000)
    expect(ttlMs).toBeLessThan(120_000)
  })

  it.each([29, 604_801, 1.5])('refuses %d seconds', async (ttlSeconds) => {
    expect((await createLink(bench.key, { ttlSeconds })).status).toBe(400)
  })

  it('ends when its key has 100 newer ones', async () => {
    const key = await issueKey(api, {})
    const first = await codeOf(createLink(key))
    const second = await codeOf(createLink(key))
    for (let count = 0; count < 99; count += 1) expect((await createLink(key)).status).toBe(201)
    expect((await browser(url).signIn({ code: first })).status).toBe(401)
    expect((await browser(url).signIn({ code: second })).status).toBe(201)
  })

  it('signs in the key that an admin names, or the own key', async () => {
    const other = await issueKey(api, {})
    const restricted = await issueKey(api, { scopes: ['admin'], projectId: 1 })
    const apiKeyId = await idOf(other)
    const code = await codeOf(createLink(bench.key, { apiKeyId, ttlSeconds: 604_800 }))
    expect((await browser(url).signIn({ code })).body).toMatchObject({ apiKey: { id: apiKeyId } })
    expect((await createLink(other, { apiKeyId })).status).toBe(201)
    expect((await createLink(restricted)).status).toBe(201)
  })
})

describe('the list of sessions', () => {
  it('shows the sessions of the own key, and to an admin of the workspace all', async () => {
    const [one, other] = [await issueKey(api, { name: 'one' }), await issueKey(api, { name: 'other' })]
    const restricted = await issueKey(api, { scopes: ['admin'], projectId: 1 })
    const [first, second, third] = [await signedIn(one), await signedIn(one), await signedIn(other)]
    const fourth = await signedIn(restricted)
    const listed = async (page: Browser) => {
      const answer = await page.call('GET', '/console/sessions')
      expect(answer.status, answer.text).toBe(200)
      return answer.body as unknown as { id: number; isCurrent: boolean; apiKey: object; userAgent: string }[]
    }
    expect((await listed(first)).map(({ id, isCurrent }) => ({ id, isCurrent }))).toEqual([
      { id: second.id, isCurrent: false },
      { id: first.id, isCurrent: true },
    ])
    expect((await listed(first))[0]).toMatchObject({
      apiKey: { id: await idOf(one), name: 'one', prefix: one.slice(0, 9) },
      userAgent: 'node',
    })
    expect((await listed(fourth)).map(({ id }) => id)).toEqual([fourth.id])
    const all = (await listed(await signedIn(bench.key))).map(({ id }) => id)
    expect(all).toEqual(expect.arrayContaining([first.id, second.id, third.id, fourth.id]))
    const withKey = await httpCall('GET', `${url}/console/sessions`, { headers: { authorization: `Bearer ${other}` } })
    expect(withKey.body).toMatchObject([{ id: third.id, isCurrent: false }])
  })

  it('ends exactly the sessions that it shows', async () => {
    const [one, other] = [await issueKey(api, {}), await issueKey(api, {})]
    const [first, second, foreign] = [await signedIn(one), await signedIn(one), await signedIn(other)]
    const end = (page: Browser, id: number | string) => page.call('DELETE', `/console/sessions/${id}`)
    for (const id of [foreign.id, 999_999, 'x', 0]) {
      expect((await end(first, id)).body).toMatchObject({ reason: 'unknown-session', details: {} })
    }
    expect((await end(first, second.id)).status).toBe(204)
    expect(await statusOf(second)).toBe(401)
    expect((await end(first, second.id)).status).toBe(404)
    expect((await end(await signedIn(bench.key), foreign.id)).status).toBe(204)
    expect([await statusOf(first), await statusOf(foreign)]).toEqual([200, 401])
  })

  it('signing out ends the session and expires the cookie', async () => {
    const page = await signedIn(await issueKey(api, {}))
    const copy = browser(url)
    copy.cookie = page.cookie
    const answer = await page.call('DELETE', '/console/session')
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: '' })
    const form = /^stet-[0-9a-f]{6}=; Path=\/; HttpOnly; SameSite=Strict; Max-Age=0$/
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(form)])
    expect(await statusOf(copy)).toBe(401)
  })
})

it("another tenant's sessions and keys are unknown", async () => {
  const foreignKey = await openTenant(bench.server, 'other tenant')
  const theirs = browser(url)
  const { body } = await theirs.signIn({ apiKey: foreignKey })
  const { id, apiKey } = body as unknown as { id: number; apiKey: { id: number } }
  const page = browser(url)
  await page.signIn({ apiKey: await issueKey(api, { scopes: ['admin'] }) })
  const listed = (await page.call<{ id: number }[]>('GET', '/console/sessions')).body
  expect(listed.map((session) => session.id)).not.toContain(id)
  for (const [foreign, unknown] of [
    [page.call('DELETE', `/console/sessions/${id}`), page.call('DELETE', '/console/sessions/999999')],
    [
      page.call('POST', '/console/links', { body: { apiKeyId: apiKey.id } }),
      page.call('POST', '/console/links', { body: { apiKeyId: 999_999 } }),
    ],
  ]) {
    const answers = await Promise.all([foreign, unknown])
    expect(answers[0]?.status).toBe(404)
    expect(answers[0]?.body).toEqual(answers[1]?.body)
  }
  expect((await theirs.call('GET', '/console/session')).status).toBe(200)
})

it('a rotated key ends its sessions at once', async () => {
  const { id, key } = (await api('POST', '/api-keys', { body: { name: 'ending' } })).body
  const page = await signedIn(String(key))
  expect(await statusOf(page)).toBe(200)
  expect((await api('POST', `/api-keys/${String(id)}/rotate`, { body: {} })).status).toBe(201)
  expect(await page.call('GET', '/api/v3/me')).toMatchObject({ status: 401, body: { reason: 'no-key' } })
})

describe('by the clock', () => {
  const dayMs = 86_400_000
  /** Moves the clock of the server. */
  async function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
    const { clock } = bench.server.deps
    const { now } = clock
    clock.now = () => new Date(now().getTime() + ms)
    try {
      return await work()
    } finally {
      clock.now = now
    }
  }

  it.each([
    ['', ['read'], { idle: 7, all: 30 }],
    [' of an admin', ['admin'], { idle: 1, all: 7 }],
  ])('a session%s ends without use, and in any case later', async (_name, scopes, { idle, all }) => {
    const [unused, used] = [
      await signedIn(await issueKey(api, { scopes })),
      await signedIn(await issueKey(api, { scopes })),
    ]
    const shown = await used.call('GET', '/console/session')
    expect(Date.parse(String(shown.body['expiresAt'])) - Date.now()).toBeGreaterThan((all - 0.5) * dayMs)
    for (let time = idle - 0.01; time < all - 0.02; time += idle - 0.01) {
      expect(await later(time * dayMs, () => statusOf(used)), `after ${time} days`).toBe(200)
    }
    expect(await later((idle - 0.01) * dayMs, () => statusOf(unused))).toBe(200)
    expect(await later((2 * idle - 0.005) * dayMs, () => statusOf(unused))).toBe(401)
    expect(await later((all - 0.01) * dayMs, () => statusOf(used))).toBe(200)
    expect(await later((all + 0.01) * dayMs, () => statusOf(used))).toBe(401)
  })

  it('a session ends with its key', async () => {
    const expiresAt = new Date(Date.now() + dayMs).toISOString()
    const page = await signedIn(await issueKey(api, { scopes: ['read'], expiresAt }))
    expect((await page.call('GET', '/console/session')).body).toMatchObject({ expiresAt })
    expect(await later(dayMs - 60_000, () => statusOf(page))).toBe(200)
    expect(await later(dayMs + 1_000, () => statusOf(page))).toBe(401)
  })

  it('a link works until it expires', async () => {
    const [first, second] = [await codeOf(createLink(bench.key)), await codeOf(createLink(bench.key))]
    expect((await later(50_000, () => browser(url).signIn({ code: first }))).status).toBe(201)
    expect((await later(61_000, () => browser(url).signIn({ code: second }))).status).toBe(401)
  })

  it('the last use is stored at most once a minute', async () => {
    const page = await signedIn(await issueKey(api, {}))
    const { sessions } = bench.server.deps.stores
    const seen = async () => (await sessions.findOptional(1, page.id))?.lastSeenAt.getTime() ?? 0
    const first = await seen()
    const writes: number[] = []
    const { touch } = sessions
    sessions.touch = (...call) => {
      writes.push(call[2].getTime())
      return touch(...call)
    }
    try {
      for (const ms of [1_000, 30_000, 59_000, 61_000, 90_000]) await later(ms, () => statusOf(page))
    } finally {
      sessions.touch = touch
    }
    expect(writes).toHaveLength(1)
    await expect.poll(seen).toBe(writes[0])
    expect((writes[0] ?? 0) - first).toBeGreaterThanOrEqual(60_000)
  })
})

describe('the limits of a session', () => {
  const limitOf = ({ headers }: ApiAnswer) => headers.get('x-ratelimit-limit')

  it('are shared with the other sessions of its key, and do not charge the key', async () => {
    const key = await issueKey(api, { plan: 'custom', limit: 2 })
    const page = await signedIn(key)
    const answers = await Promise.all(Array.from({ length: 10 }, () => page.call('GET', '/api/v3/me')))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect(limitOf(answers[0] as ApiAnswer)).toBe('50')
    const other = await signedIn(key)
    const spend = async ({ call }: Browser) => {
      const { headers } = await call('GET', '/api/v3/me')
      return { resetAt: Number(headers.get('x-ratelimit-reset')), left: Number(headers.get('x-ratelimit-remaining')) }
    }
    // Asked until two requests fall into the same second.
    const difference = async () => {
      const [one, next] = [await spend(page), await spend(other)]
      // The reported end of a second may vary by a millisecond.
      return Math.abs(one.resetAt - next.resetAt) < 500 ? one.left - next.left : undefined
    }
    await expect.poll(difference).toBe(1)
  })

  // The last test, because runs of disconnected clients may still call the provider.
  it('allow 8 open event streams, and another when one has closed', async () => {
    const page = await signedIn(await issueKey(api, {}))
    const open = () =>
      fetch(`${url}/api/v3${bench.live}/documents/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-stet-console': '1', cookie: page.cookie ?? '' },
        body: JSON.stringify({ path: 'hello', stream: true }),
      })
    bench.fake.enqueue(...Array.from({ length: 8 }, () => ({ text: 'a', hang: 'mid-stream' as const })))
    const streams: Response[] = []
    for (let count = 0; count < 8; count += 1) streams.push(await open())
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    const refused = await open()
    expect(await refused.json()).toMatchObject({ reason: 'too-many-streams', details: { limit: 8 } })
    await Promise.all(streams.map((stream) => stream.body?.cancel()))
    const next = async () => {
      const { status, body } = await open()
      await body?.cancel()
      return status
    }
    await expect.poll(next).toBe(200)
  })
})

describe('the author of a new key', () => {
  const create = async (body: Record<string, unknown>) => {
    const answer = await api('POST', '/api-keys', { body: { name: 'laptop', ...body } })
    expect(answer.status, answer.text).toBe(201)
    return answer.body as unknown as { author: { id: number; name: string; email: string } }
  }

  it('is found by email without case, otherwise created', async () => {
    const first = await create({ author: { name: 'Ana', email: 'Ana_B@example.com' } })
    expect(first.author).toEqual({ id: expect.any(Number), name: 'Ana', email: 'Ana_B@example.com' })
    const again = await create({ author: { name: 'A. B.', email: 'ana_b@EXAMPLE.com' } })
    expect(again.author).toEqual(first.author)
    // `_` and `%` are wildcards in SQL.
    const similar = await create({ author: { name: 'Leo', email: 'anaxb@example.com' } })
    const wild = await create({ author: { name: 'Max', email: '%@example.com' } })
    const slashed = await create({ author: { name: 'Max', email: 'a\\na@example.com' } })
    expect((await create({ author: { name: 'Max', email: 'a\\Na@example.com' } })).author).toEqual(slashed.author)
    const ids = [first, similar, wild, slashed].map(({ author }) => author.id)
    expect(new Set(ids).size).toBe(4)
  })

  it('is one author if 10 requests name a new email at once', async () => {
    const author = { name: 'Eva', email: 'eva@example.com' }
    const created = await Promise.all(Array.from({ length: 10 }, () => create({ author })))
    expect(new Set(created.map((key) => key.author.id)).size).toBe(1)
  })
})
