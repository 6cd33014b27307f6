import { randomUUID } from 'node:crypto'
import { Stats } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import { LRUCache } from 'lru-cache'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { storeDays } from '../../src/features/stats/store-days.ts'
import { seed } from '../support/counts.ts'
import { seededRandom } from '../support/random.ts'
import { refusalOf } from './refusal-of.ts'
import { createTestProject, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api, key: apiKey } = await sharedServer()
const { session } = server.database

const dayMs = 86_400_000
const days = 45
/** One is also a name that every plain object has. */
const models = ['gpt-6-luna', 'constructor', null]

interface Fact {
  at: number
  document: string
  version: string
  model: string | null
  via: string
  status: string
  duration: number
  firstToken: number | null
  input: number
  output: number
  cached: number
  costNano: number | null
  isEstimated: boolean
}

let project: TestProject
let prompts: string[]
let today: number
const facts: Fact[] = []

beforeAll(async () => {
  project = await createTestProject(api, { a: 'A', b: 'B', c: 'C' })
  const { body } = await api('GET', `${project.live}/documents`)
  prompts = (body as unknown as { uuid: string }[]).map(({ uuid }) => uuid)
  const [row] = (await session.query('SELECT (extract(epoch FROM now()) * 1000)::float8 AS now')).rows
  today = Math.floor(Number(row?.['now']) / dayMs) * dayMs
  const dice = seededRandom(seed)
  const one = <T>(items: readonly T[]): T => items[Math.floor(dice() * items.length)] as T
  for (let index = 0; index < 2_000; index += 1) {
    const duration = Math.round(Math.exp(2 + dice() * 11))
    facts.push({
      at: today - Math.floor(dice() * days * dayMs),
      ...{
        document: one(prompts),
        version: project.draftUuid,
        model: one(models),
        via: one(['api', 'api', 'console']),
      },
      status: one(['completed', 'completed', 'error', 'stopped']),
      ...{ duration, firstToken: one([null, Math.floor(duration / 3)]) },
      ...{ input: Math.floor(dice() * 5_000), output: Math.floor(dice() * 900), cached: Math.floor(dice() * 100) },
      ...{ costNano: one([null, Math.floor(dice() * 3e6)]), isEstimated: one([false, false, true]) },
    })
  }
  await insert(facts)
})

async function insert(rows: readonly Fact[]): Promise<void> {
  await session.query(
    `INSERT INTO run_figure (run_uuid, at, project_id, document_uuid, version_uuid, model, via, status, duration_ms, first_token_ms,
       input_tokens, output_tokens, cached_tokens, cost_nano, usage_estimated)
     SELECT i.uuid, to_timestamp(i.at / 1000.0), $2::int, i.document, i.version, i.model, i.via, i.status, i.duration, i."firstToken",
       i.input, i.output, i.cached, i."costNano", i."isEstimated"
     FROM json_to_recordset($1::text::json) AS i(uuid uuid, at float8, document uuid, version uuid, model text, via text, status text,
       duration int, "firstToken" int, input int, output int, cached int, "costNano" bigint, "isEstimated" bool)`,
    [JSON.stringify(rows.map((row) => ({ ...row, uuid: randomUUID() }))), project.id],
  )
}

async function ask(query: Record<string, string>): Promise<wire.Stats> {
  const answer = await api('GET', `/projects/${project.id}/stats?${new URLSearchParams(query).toString()}`)
  expect(answer.status, answer.text).toBe(200)
  return Stats.parse(answer.body)
}

/** The sums over the facts that were inserted. */
function expected(own: readonly Fact[]) {
  const sum = (of: (fact: Fact) => number) => own.reduce((total, fact) => total + of(fact), 0)
  const is = (of: (fact: Fact) => boolean) => own.filter(of).length
  const priced = own.filter(({ costNano }) => costNano !== null)
  return {
    runs: own.length,
    errors: is(({ status }) => status === 'error'),
    stopped: is(({ status }) => status === 'stopped'),
    unpriced: own.length - priced.length,
    estimated: is(({ isEstimated }) => isEstimated),
    inputTokens: sum(({ input }) => input),
    outputTokens: sum(({ output }) => output),
    cachedInputTokens: sum(({ cached }) => cached),
    cost: own.length > 0 && priced.length === 0 ? null : expect.closeTo(sum(({ costNano }) => costNano ?? 0) / 1e9, 9),
  }
}

/** √2 is the width of a bin, so the exact percentile is at most that far away. The first bin begins at 0. */
function expectNear(figure: number | null, values: readonly number[], share: number): void {
  const sorted = [...values].sort((one, other) => one - other)
  const exact = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
  const isNear =
    figure === null || exact === undefined
      ? figure === null && exact === undefined
      : figure <= Math.max(50, 1.42 * exact) && figure >= (exact < 50 ? 0 : 0.7 * exact)
  expect(isNear, `${figure}, and exactly ${exact}`).toBe(true)
}

function expectSeries({ figures, points }: wire.StatsSeries, own: readonly Fact[], stepMs: number): void {
  expect(figures).toMatchObject(expected(own))
  expectNear(
    figures.durationP50,
    own.map(({ duration }) => duration),
    0.5,
  )
  expectNear(
    figures.durationP95,
    own.map(({ duration }) => duration),
    0.95,
  )
  expectNear(
    figures.firstTokenP50,
    own.flatMap(({ firstToken }) => firstToken ?? []),
    0.5,
  )
  const starts = [...new Set(own.map(({ at }) => Math.floor(at / stepMs) * stepMs))].sort((one, other) => one - other)
  expect(points.map(({ at }) => Date.parse(at))).toEqual(starts)
  for (const { at, figures: ofStep } of points) {
    const inStep = own.filter((fact) => fact.at >= Date.parse(at) && fact.at < Date.parse(at) + stepMs)
    expect(ofStep).toMatchObject(expected(inStep))
  }
}

const inRange = ({ from, to }: { from: number; to: number }) => facts.filter(({ at }) => at >= from && at < to)
const rangeText = ({ from, to }: { from: number; to: number }) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
})
const hourMs = 3_600_000
/** One range for each kind of step. The first two end in the middle of the facts, and of what is read as a whole. */
const ranges = [
  { lengthMs: 3 * hourMs, ageMs: 3 * dayMs - 25 * 60_000 },
  { lengthMs: 2 * dayMs, ageMs: 3 * dayMs - 5 * hourMs },
  { lengthMs: days * dayMs, ageMs: 0 },
]

async function expectAllExact(): Promise<void> {
  for (const { lengthMs, ageMs } of ranges) {
    const to = today - ageMs
    const range = { from: to - lengthMs, to }
    const own = inRange(range)
    const all = await ask({ ...rangeText(range), via: 'all' })
    expect(all).toMatchObject({ ...rangeText(range), series: [], other: null })
    expectSeries(all.total, own, all.stepSeconds * 1_000)
    const api = own.filter(({ via }) => via === 'api')
    const byModel = await ask({ ...rangeText(range), by: 'model', top: '2' })
    expectSeries(byModel.total, api, all.stepSeconds * 1_000)
    const seen = byModel.series.map(({ key }) => key)
    for (const series of byModel.series) {
      expectSeries(
        series,
        api.filter(({ model }) => model === series.key),
        all.stepSeconds * 1_000,
      )
    }
    const rest = api.filter(({ model }) => !seen.includes(model))
    if (byModel.other) expectSeries(byModel.other, rest, all.stepSeconds * 1_000)
    else expect(rest).toEqual([])
    const [documentUuid = ''] = prompts
    const ofPrompt = await ask({ ...rangeText(range), documentUuid, by: 'version' })
    expectSeries(
      ofPrompt.total,
      api.filter(({ document }) => document === documentUuid),
      all.stepSeconds * 1_000,
    )
  }
}

describe('stats', () => {
  it('counts exactly what ended in the range, by step and by series', expectAllExact)

  it('names prompts by their path and versions by number and title', async () => {
    const range = rangeText({ from: today - 2 * dayMs, to: today })
    const { series } = await ask({ ...range, by: 'prompt' })
    expect(series.map(({ label }) => label).sort()).toEqual(['a', 'b', 'c'])
    const { series: versions } = await ask({ ...range, by: 'version' })
    expect(versions.map(({ key, label }) => [key, label])).toEqual([[project.draftUuid, 'v1 Initial version']])
  })

  it('marks the publications in the range', async () => {
    const { marks } = await ask({})
    expect(marks).toMatchObject([{ versionUuid: project.draftUuid, version: 1, title: 'Initial version' }])
  })

  it('answers the same after two servers stored the days at once, one of them half-way, and old facts are gone', async () => {
    const { deps } = server
    const halfway = new AbortController()
    const signal = new AbortController().signal
    const stopped = storeDays(deps, halfway.signal).catch(() => undefined)
    const others = [storeDays(deps, signal), storeDays(deps, signal)]
    halfway.abort()
    await Promise.all([stopped, ...others])
    const { rows } = await session.query(
      `SELECT count(*) FILTER (WHERE at < now() - interval '40 days')::int AS old, count(*)::int AS facts FROM run_figure
       WHERE project_id = $1`,
      [project.id],
    )
    expect(rows).toMatchObject([{ old: 0, facts: facts.filter(({ at }) => at >= Date.now() - 40 * dayMs).length }])
    deps.stats.pieces.clear()
    await expectAllExact()
  })

  it('sums a day with more facts than one statement may read by the hour', async () => {
    const { stats } = server.deps
    const { mostFacts } = stats
    onTestFinished(() => {
      stats.mostFacts = mostFacts
    })
    // Fewer than in some hours.
    stats.mostFacts = 2
    stats.pieces.clear()
    const range = { from: today - 2 * dayMs, to: today }
    const { total } = await ask({ ...rangeText(range), via: 'all' })
    expectSeries(total, inRange(range), 3_600_000)
  })

  it('counts exactly while pieces displace each other', async () => {
    const { stats } = server.deps
    const { pieces } = stats
    onTestFinished(() => {
      stats.pieces = pieces
    })
    stats.pieces = new LRUCache({ max: 1 })
    const range = { from: today - 2 * dayMs, to: today }
    for (const turn of ['first', 'second']) {
      const { total } = await ask({ ...rangeText(range), via: 'all' })
      expect(total.figures.runs, turn).toBe(inRange(range).length)
      expectSeries(total, inRange(range), 3_600_000)
    }
  })

  it('has no runs in years that the database cannot read', async () => {
    const { total } = await ask({ from: '0000-01-01T00:00:00Z', to: '1970-02-01T00:00:00Z' })
    expect(total.figures.runs).toBe(0)
  })

  it('has no runs of a prompt of another project', async () => {
    const other = await createTestProject(api, { d: 'D' })
    const answer = await api(
      'GET',
      `/projects/${other.id}/stats?documentUuid=${prompts[0]}&from=2026-01-01T00:00:00Z&via=all`,
    )
    expect(answer.body).toMatchObject({ total: { figures: { runs: 0 }, points: [] } })
  })

  it('forgets a question whose client leaves before its turn', async () => {
    const { stats } = server.deps
    const { inTurn } = stats
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const first = inTurn({ workspaceId: 1, apiKeyId: 0, signal: new AbortController().signal }, () => gate)
    onTestFinished(() => {
      stats.inTurn = inTurn
      release()
    })
    const client = new AbortController()
    const forgotten = new Promise((resolve) => {
      stats.inTurn = (asker, work) => {
        const question = inTurn(asker, work)
        question.catch(resolve)
        client.abort()
        return question
      }
    })
    const url = `${server.url}/api/v3/projects/${project.id}/stats`
    const asked = fetch(url, { headers: { authorization: `Bearer ${apiKey}` }, signal: client.signal })
    await expect(asked).rejects.toThrow()
    expect(await forgotten).toMatchObject({ reason: 'client-disconnected' })
    release()
    await first
  })

  it.each([
    ['from', { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }],
    ['from', { from: '2025-01-01T00:00:00Z', to: '2026-06-01T00:00:00Z' }],
    ['by', { by: 'prompt', documentUuid: randomUUID() }],
    ['top', { top: '13' }],
    ['from', { from: '9999-06-01T00:00:00Z', to: '9999-12-31T23:59:59Z' }],
  ])('refuses a wrong %s: %j', async (path, query) => {
    const answer = await api('GET', `/projects/${project.id}/stats?${new URLSearchParams(query).toString()}`)
    expect(refusalOf(answer)).toMatchObject({ status: 400, path })
  })
})
