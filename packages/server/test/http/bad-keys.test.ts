import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { issueKey, type Opened, openServer } from './scenario.ts'

let opened: Opened

beforeAll(async () => {
  opened = await openServer({ STET_AUTH_FAILURE_LIMIT: '20', STET_TRUST_PROXY: '1' })
  await opened.api('GET', '/me')
})
afterAll(() => opened.server.close())

it('cost no statement if malformed or with a bad checksum, and one statement if unknown', async () => {
  const { statementCount } = opened.server.database
  const statements = async (key: string) => {
    const before = statementCount()
    expect((await opened.api('GET', '/me', { key })).status).toBe(401)
    return statementCount() - before
  }
  const wellFormed = generateApiKey()
  const last = wellFormed.endsWith('0') ? '1' : '0'
  expect(await statements('rubbish')).toBe(0)
  expect(await statements(wellFormed.slice(0, -1) + last)).toBe(0)
  expect(await statements(wellFormed)).toBe(1)
})

it('get 429 after 20 failures of an address until the window ends; other addresses are not affected', async () => {
  const { api, key } = opened
  const from = (address: string, sent: string) =>
    api('GET', '/me', { key: sent, headers: { 'x-forwarded-for': address } })
  const statusFrom = async (address: string, sent: string) => (await from(address, sent)).status
  const [flooding, other] = ['203.0.113.3', '203.0.113.2']
  const [fresh, another] = [await issueKey(api, {}), await issueKey(api, {})]
  // The clock is frozen, so that a slow machine needs no second window.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
  const statuses: number[] = []
  // Alternates both kinds, because all bad keys count alike.
  for (let attempt = 0; attempt < 25; attempt += 1)
    statuses.push(await statusFrom(flooding, attempt % 2 === 0 ? `stet_${attempt}` : generateApiKey()))
  expect(statuses).toEqual([...Array(20).fill(401), ...Array(5).fill(429)])
  const limited = await from(flooding, generateApiKey())
  expect(limited).toMatchObject({ status: 429, body: { name: 'RateLimitError' } })
  expect(limited.headers.get('retry-after')).toBe('10')
  // A cached key always passes. A key that needs a statement is limited like all others from its address.
  expect([await statusFrom(flooding, key), await statusFrom(flooding, fresh)]).toEqual([200, 429])
  expect([await statusFrom(other, another), await statusFrom(other, generateApiKey())]).toEqual([200, 401])
  vi.setSystemTime(Date.now() + 10_000)
  expect([await statusFrom(flooding, fresh), await statusFrom(flooding, 'stet_1')]).toEqual([200, 401])
})
