/**
 * `pnpm bench:experiments`: the time to the first text of a caller's stream, while four experiments run and while their rows
 * have hostile patterns, against an idle server in turns. Exit code 1 if the median ratio of the p50, or with patterns of
 * the p99, is above 1.2.
 */
import { Pool } from 'undici'
import { percentile } from '../measuring/rounds.ts'
import { readStream } from '../measuring/stream-reader.ts'
import { adminKey, closeAll, runRequest, startStet, startUpstream } from '../subjects/candidates.ts'
import { describeMachine } from '../subjects/machine.ts'

const limit = 1.2
const rounds = Number(process.env['ROUNDS'] ?? 3)
const requests = Number(process.env['REQUESTS'] ?? 60)
const experiments = [0, 1, 2, 3]
const rowsOfEach = 50

/** The pattern takes exponential time, because no answer ends with an exclamation mark. */
const kinds = [
  { name: 'four experiments', share: 0.5, checks: [] },
  { name: 'hostile patterns', share: 0.99, checks: [{ type: 'regex', pattern: '^(\\w+\\s?)+!$' }] },
] as const

const upstream = await startUpstream({ CHUNKS: '20' })
const stet = await startStet(upstream.url)
const pool = new Pool(stet.url, { connections: 4 })
const { uuid: documentUuid } = await call('GET', '/projects/1/versions/live/documents/bench')
for (const { name, checks } of kinds) {
  const rows = experiments.flatMap((of) => Array.from({ length: rowsOfEach }, (_, row) => ({ of, row })))
  for (const tag of experiments) {
    const changes = rows
      .filter(({ of }) => of === tag)
      .map(({ of, row }) => ({
        ...{ name: `${name} ${of} ${row}`, parameters: { topic: `row ${row} after 50 ms` } },
        ...{ checks, tags: [`${name} ${of}`] },
      }))
    await call('POST', '/projects/1/examples/batch', { documentUuid, changes })
  }
}

console.log(JSON.stringify({ bench: 'experiments', ...describeMachine() }))
await firstTexts()
for (const { name, share } of kinds) {
  const ratios: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const idle = await firstTexts()
    const uuids = await Promise.all(experiments.map((of) => startExperiment(`${name} ${of}`)))
    const busy = await firstTexts()
    for (const uuid of uuids) {
      const { state } = await call('GET', `/experiments/${uuid}`)
      if (state !== 'running') throw new Error(`An experiment was ${String(state)} before the end of the round`)
      await call('POST', `/experiments/${uuid}/stop`)
    }
    const figures = { idleMs: percentile(idle, share), busyMs: percentile(busy, share) }
    ratios.push(figures.busyMs / figures.idleMs)
    console.log(JSON.stringify({ bench: 'experiments', name, percentile: share, ...figures }))
  }
  const ratio = percentile(ratios, 0.5)
  console.log(JSON.stringify({ bench: 'experiments', name, ratio: Math.round(ratio * 100) / 100, limit }))
  if (ratio > limit) process.exitCode = 1
}
await pool.close()
await closeAll(stet, upstream)

async function firstTexts(): Promise<number[]> {
  const times: number[] = []
  for (let request = 0; request < requests; request += 1) {
    times.push((await readStream(pool, runRequest(true, stet.headers, { latencyMs: 50 }))).firstTextMs)
  }
  return times
}

async function startExperiment(tag: string): Promise<string> {
  const arms = [0, 0.5, 1].map((temperature) => ({ versionUuid: 'live', overrides: { temperature } }))
  const body = { path: 'bench', arms, tag, trials: 5, concurrency: 16, maxRuns: 20_000 }
  return String((await call('POST', '/projects/1/experiments', body))['uuid'])
}

async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${stet.url}/api/v3${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}
