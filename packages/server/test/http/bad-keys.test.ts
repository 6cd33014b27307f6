import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import type { TestServer } from '../support/test-server.ts'
import { type Api, issueKey, openServer } from './scenario.ts'

let server: TestServer
let api: Api

beforeAll(async () => {
  ;({ server, api } = await openServer({ STET_AUTH_FAILURE_LIMIT: '20' }))
  await api('GET', '/me')
})
afterAll(() => server.close())

describe('bad keys', () => {
  it('cost no statement if malformed or with a bad checksum, and one statement if unknown', async () => {
    const statements = async (key: string) => {
      const before = server.database.statementCount()
      expect((await api('GET', '/me', { key })).status).toBe(401)
      return server.database.statementCount() - before
    }
    const wellFormed = generateApiKey()
    const last = wellFormed.endsWith('0') ? '1' : '0'
    expect(await statements('rubbish')).toBe(0)
    expect(await statements(wellFormed.slice(0, -1) + last)).toBe(0)
    expect(await statements(wellFormed)).toBe(1)
  })
})

/** The server counts failures for ten seconds, but its clock may be slightly ahead of this one. */
const windowMs = 9_500

describe('a flood of bad keys', () => {
  it('gets 429 after 20 failures of an address until the window ends; other addresses are not affected', async () => {
    const opened = await openServer({ STET_AUTH_FAILURE_LIMIT: '20', STET_TRUST_PROXY: '1' })
    const from = async (address: string, key: string) => {
      const answer = await opened.api('GET', '/me', { key, headers: { 'x-forwarded-for': address } })
      return { ...answer, name: answer.body['name'] }
    }
    // Alternates both kinds, because all bad keys count alike.
    const bad = (attempt: number) => (attempt % 2 === 0 ? `stet_${attempt}` : generateApiKey())
    const flood = async (flooding: string) => {
      const fresh = await issueKey(opened.api, {})
      const startedAt = performance.now()
      const statuses: number[] = []
      for (let attempt = 0; attempt < 25; attempt += 1) statuses.push((await from(flooding, bad(attempt))).status)
      const limited = await from(flooding, generateApiKey())
      const [known, unknown] = [await from(flooding, opened.key), await from(flooding, fresh)]
      const isInWindow = performance.now() - startedAt < windowMs
      return { flooding, fresh, statuses, limited, known: known.status, unknown: unknown.status, isInWindow }
    }
    let flooded = await flood('203.0.113.3')
    // On a paused machine the requests may span two windows, so the test tries again.
    for (let last = 4; !flooded.isInWindow; last += 1) flooded = await flood(`203.0.113.${last}`)
    const { flooding, fresh, statuses, limited, known, unknown } = flooded
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(5).fill(429)])
    expect(limited).toMatchObject({ status: 429, name: 'RateLimitError' })
    const retryAfter = Number(limited.headers.get('retry-after'))
    expect(retryAfter).toBeGreaterThanOrEqual(1)
    expect(retryAfter).toBeLessThanOrEqual(10)
    // A cached key always passes. A key that needs a statement is limited like all others from its address.
    expect([known, unknown]).toEqual([200, 429])
    const other = '203.0.113.2'
    expect((await from(other, await issueKey(opened.api, {}))).status).toBe(200)
    expect((await from(other, generateApiKey())).status).toBe(401)
    await expect.poll(async () => (await from(flooding, fresh)).status, { interval: 250 }).toBe(200)
    expect((await from(flooding, bad(0))).status).toBe(401)
    await opened.server.close()
  })
})
