import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import type { TestServer } from '../support/test-server.ts'
import { type Api, openServer } from './scenario.ts'

let server: TestServer
let api: Api

beforeAll(async () => {
  ;({ server, api } = await openServer({ STET_AUTH_FAILURE_LIMIT: '20' }))
  await api('GET', '/me')
})
afterAll(() => server.close())

describe('bad keys', () => {
  it('of a wrong form or checksum cost no statement; an unknown one costs one', async () => {
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

  it('from one address are answered 429 once there were too many, while a known key passes', async () => {
    const statuses: number[] = []
    for (let attempt = 0; attempt < 25; attempt += 1) {
      statuses.push((await api('GET', '/me', { key: `stet_${attempt}` })).status)
    }
    expect(statuses[0]).toBe(401)
    expect(statuses.at(-1)).toBe(429)
    const limited = await api('GET', '/me', { key: generateApiKey() })
    expect({ status: limited.status, name: limited.body['name'] }).toEqual({ status: 429, name: 'RateLimitError' })
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect((await api('GET', '/me')).status).toBe(200)
  })
})
