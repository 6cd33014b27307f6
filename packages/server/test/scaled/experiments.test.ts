/** Experiments have no owner: whichever server dies, the others bring them to the same result. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Experiment, ExperimentRow, Report } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { apiCaller } from '../http/api-call.ts'
import type { Api } from '../http/scenario.ts'
import { prompt } from '../runs/run-bench.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import { seededRandom } from '../support/random.ts'
import { openReplicas, type Replica, type Replicas } from '../support/replicas.ts'

const kills = count(3, 100)
const rows = count(20, 200)
const concurrency = 8

let replicas: Replicas
beforeAll(async () => {
  const parameters = 'maxRetries: 0\nparameters: { name: { type: text, required: true } }\n'
  replicas = await openReplicas({ greet: prompt('<user>Row {{ name }}.</user>', parameters) }, { count: 2 })
})
afterAll(() => replicas.close())

it(
  'has the report of an undisturbed run after servers were killed, and no more model calls than they can explain',
  async () => {
    const random = seededRandom(seed)
    const { fake, project, key } = replicas
    // The answer depends on the row alone, so the report does, too. Slow enough to be killed in the middle.
    fake.setDefault(({ body }) => ({ text: expectedOf(nameIn(body)), delayMs: 20, usage }))
    let servers: Replica[] = [replicas.server(0), replicas.server(1)]
    const api: Api = (...call) => apiCaller(servers[0]?.url ?? '', key)(...call)
    const { body: document } = await api('GET', `${project.live}/documents/greet`)
    const names = Array.from({ length: rows }, (_, row) => `r${row}`)
    for (let from = 0; from < rows; from += 100) {
      const changes = names.slice(from, from + 100).map((name, row) => {
        return { name, parameters: { name }, expected: row % 4 === 0 ? 'Something else' : expectedOf(name) }
      })
      const body = { documentUuid: document['uuid'], changes }
      expect((await api('POST', `/projects/${project.id}/examples/batch`, { body })).status).toBe(200)
    }
    const arms = [{ versionUuid: 'live' }, { versionUuid: 'live', overrides: { temperature: 0 } }]
    const body = { path: 'greet', arms, concurrency, budgetUsd: 20 }
    const start = async () => {
      const { body: begun, text } = await api<Experiment>('POST', `/projects/${project.id}/experiments`, { body })
      expect(begun.counts?.total, text).toBe(rows * 2)
      return begun
    }
    const started = await start()
    for (let kill = 0; kill < kills; kill += 1) {
      await delay(random() * 500)
      const [victim, other] = random() < 0.5 ? servers : [...servers].reverse()
      if (!victim || !other) throw new Error('There are two servers')
      await victim.kill()
      servers = [other, await replicas.start()]
    }
    const get = async (uuid = started.uuid) => (await api<Experiment>('GET', `/experiments/${uuid}`)).body
    // Runs of a dead server end with their lease, and are repeated after 30 seconds.
    await expect.poll(async () => (await get()).state, { timeout: patienceMs, interval: 500 }).toBe('completed')
    // With many kills, both attempts of an item may be lost.
    for (let { counts } = await get(); counts.failed > 0; counts = (await get()).counts) {
      await api('POST', `/experiments/${started.uuid}/resume`, { body: {} })
      await expect.poll(async () => (await get()).state, { timeout: patienceMs, interval: 500 }).toBe('completed')
    }
    const ended = await get()
    expect(ended.counts).toEqual({ total: rows * 2, waiting: 0, running: 0, ended: rows * 2, failed: 0 })
    const shown: ExperimentRow[] = []
    const pageAfter = async (cursor: string) =>
      (
        await api<{ items: ExperimentRow[]; nextCursor: string | null }>(
          'GET',
          `/experiments/${started.uuid}/items?limit=100${cursor}`,
        )
      ).body
    for (let next: string | null = ''; next !== null; ) {
      const page: Awaited<ReturnType<typeof pageAfter>> = await pageAfter(next === '' ? '' : `&cursor=${next}`)
      shown.push(...page.items)
      next = page.nextCursor
    }
    expect(shown.map(({ items }) => items.length)).toEqual(Array(rows).fill(2))
    const conversations = shown.flatMap(({ items }) => items.map(({ conversationUuid }) => conversationUuid))
    expect(new Set(conversations).size).toBe(rows * 2)
    // Each server runs at most eight items at once, and one more process may take part while a server is replaced.
    expect(fake.requests.length).toBeLessThanOrEqual(rows * 2 + kills * concurrency * 2)
    const [cost] = await replicas.query<{ usd: number }>(
      `SELECT sum(cost_nano)::float8 / 1e9 AS usd FROM run_figure WHERE via = 'experiment'`,
    )
    expect(ended.costUsd).toBeCloseTo(cost?.usd ?? 0, 9)
    const calls = fake.requests.length
    const undisturbed = (await start()).uuid
    await expect
      .poll(async () => (await get(undisturbed)).state, { timeout: patienceMs, interval: 500 })
      .toBe('completed')
    expect(fake.requests.length - calls).toBe(rows * 2)
    const price = (await get(undisturbed)).costUsd / (rows * 2)
    // Every counted item was paid once, and no cost is counted that the provider does not have in its ledger.
    expect(Math.round(ended.costUsd / price)).toBeGreaterThanOrEqual(rows * 2)
    expect(Math.round(ended.costUsd / price)).toBeLessThanOrEqual(calls)
    expect(await resultOf(api, started.uuid)).toEqual(await resultOf(api, undisturbed))
  },
  timeFor(kills, 60_000) + 300_000,
)

const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 }

/** The report without what differs between two runs: times, and the uuid. */
async function resultOf(api: Api, uuid: string) {
  const { body } = await api<Report>('GET', `/experiments/${uuid}/report`)
  const { experimentUuid: _uuid, arms, ...report } = body
  return {
    ...report,
    arms: arms.map(({ arm, ended, failed, scored, unscored, costUsd, costRatio }) => {
      return { arm, ended, failed, scored, unscored, costUsd: costUsd?.toFixed(9), costRatio }
    }),
  }
}

const patienceMs = timeFor(kills, 30_000) + 240_000

function nameIn(body: Record<string, unknown>): string {
  return /Row (\w+)/.exec(JSON.stringify(body['messages']))?.[1] ?? ''
}

function expectedOf(name: string): string {
  return `Answer to ${name}`
}
