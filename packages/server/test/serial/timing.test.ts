/** The time of a refusal must not reveal which resources exist. */
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { createTestProject, type Opened, openServer, openTenant } from '../http/scenario.ts'
import { count, timeFor } from '../support/counts.ts'

const samples = count(300, 5_000)
/** A busy machine may disturb one round, but not all. */
const rounds = 3
const allowedShare = 0.2

let opened: Opened
beforeAll(async () => {
  opened = await openServer()
})
afterAll(() => opened.server.close())

// Uses one connection, because opening one takes longer than the measured work.
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterAll(() => agent.destroy())

/** Returns the microseconds until the complete response. */
function timed(path: string, key: string, status: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const sent = request(
      `${opened.server.url}/api/v3${path}`,
      { agent, headers: { authorization: `Bearer ${key}` } },
      (answer) => {
        answer.resume().on('end', () => {
          if (answer.statusCode === status) resolve((performance.now() - startedAt) * 1_000)
          else reject(new Error(`Expected ${status}, got ${answer.statusCode}`))
        })
      },
    )
    sent.on('error', reject).end()
  })
}

const median = (values: number[]) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0

/** Alternates between both, so that machine load affects both. */
async function medians(
  one: () => Promise<number>,
  other: () => Promise<number>,
): Promise<{ one: number; other: number }> {
  const times: { one: number[]; other: number[] } = { one: [], other: [] }
  for (let sample = 0; sample < samples; sample += 1) {
    const isOneFirst = sample % 2 === 0
    const [first, second] = isOneFirst ? [one, other] : [other, one]
    const taken = [await first(), await second()]
    times.one.push(taken[isOneFirst ? 0 : 1] ?? 0)
    times.other.push(taken[isOneFirst ? 1 : 0] ?? 0)
  }
  return { one: median(times.one), other: median(times.other) }
}

async function expectAlike(one: () => Promise<number>, other: () => Promise<number>): Promise<void> {
  const told: object[] = []
  for (let round = 0; round < rounds; round += 1) {
    const found = await medians(one, other)
    told.push(found)
    if (Math.abs(found.one - found.other) <= allowedShare * Math.max(found.one, found.other)) return
  }
  expect.fail(`Medians in microseconds: ${JSON.stringify(told)}`)
}

it(
  'refuses revoked and unknown keys equally fast',
  async () => {
    const { api } = opened
    const issued = await api('POST', '/api-keys', { body: { name: 'revoked' } })
    const revoked = String(issued.body['key'])
    await api('DELETE', `/api-keys/${String(issued.body['id'])}`)
    await expectAlike(
      () => timed('/me', revoked, 401),
      () => timed('/me', generateApiKey(), 401),
    )
  },
  timeFor(samples * rounds, 40),
)

it(
  'reports resources of another workspace as fast as unknown ones',
  async () => {
    const { server, key } = opened
    const foreign = apiCaller(server.url, await openTenant(server, 'foreign'))
    const { live } = await createTestProject(foreign, { a: 'Hi' })
    const log = await foreign('POST', `${live}/documents/logs`, { body: { path: 'a', messages: [] } })
    const theirs = String(log.body['uuid'])
    expect(log.status).toBe(200)
    const unknown = () => `/conversations/00000000-0000-4000-8000-${Math.random().toFixed(12).slice(2)}`
    await expectAlike(
      () => timed(`/conversations/${theirs}`, key, 404),
      () => timed(unknown(), key, 404),
    )
  },
  timeFor(samples * rounds, 40),
)

it('detects a refusal that takes 50 % longer', async () => {
  const plain = async () => 100 + Math.random()
  await expect(expectAlike(plain, async () => 150 + Math.random())).rejects.toThrow('Medians')
  await expectAlike(plain, async () => 110 + Math.random())
})
