import { expect, test } from 'vitest'
import type { ActiveRun, RunOutcome } from '../src/commands/bench/bench-run.ts'
import { isNearby } from '../src/commands/bench/confirm-cost.ts'
import { driveLoad } from '../src/commands/bench/drive-load.ts'
import { warnAboutGenerator } from '../src/commands/bench/report.ts'
import { Tally } from '../src/commands/bench/tally.ts'

function done(ms: number, firstTextMs?: number): RunOutcome {
  return { kind: 'done', ms, firstTextMs, events: 3, textBytes: 10, cost: 0.5 }
}

function failed(cause: string, message = cause): RunOutcome {
  return { kind: 'failed', cause, message, error: new Error(message) }
}

test('percentiles of known data, in any order', () => {
  const tally = new Tally()
  for (let index = 0; index < 1000; index++) {
    const ms = ((index * 37) % 1000) + 1
    tally.add(done(ms, ms / 10))
  }
  const close = (ms: number) => expect.closeTo(ms, ms >= 500 ? 0 : 1)
  expect(tally.latencyMs).toEqual({ p50: close(500), p90: close(900), p99: close(990), max: close(1000) })
  expect(tally.firstTextMs).toEqual({ p50: close(50), p90: close(90), p99: close(99), max: close(100) })
  expect(tally).toMatchObject({ done: 1000, events: 3000, textBytes: 10_000, cost: 500 })
})

test('one slow run among a hundred is the maximum and not the 99th percentile', () => {
  const tally = new Tally()
  for (let index = 0; index < 99; index++) tally.add(done(2))
  tally.add(done(60_000))
  const { p50, p99, max } = tally.latencyMs ?? { p50: 0, p99: 0, max: 0 }
  expect([p50, p99]).toEqual([2, 2])
  expect(Math.abs(max - 60_000)).toBeLessThan(6)
  expect(tally.firstTextMs).toBeNull()
})

test('failed and stopped runs have no latency, and errors are counted by cause with the first message', () => {
  const tally = new Tally()
  for (const outcome of [failed('A', 'first'), failed('B'), failed('B'), failed('A', 'second'), failed('B')]) {
    tally.add(outcome)
  }
  tally.add({ kind: 'stopped' })
  expect(tally.latencyMs).toBeNull()
  expect(tally).toMatchObject({ done: 0, failed: 5, stopped: 1 })
  expect(tally.errors).toEqual([
    { cause: 'B', count: 3, example: 'B' },
    { cause: 'A', count: 2, example: 'first' },
  ])
})

test('a load never has more active runs than it may, and starts exactly its runs', async () => {
  let [active, most, started] = [0, 0, 0]
  const start = (): ActiveRun => {
    started += 1
    active += 1
    most = Math.max(most, active)
    const outcome = new Promise<RunOutcome>((resolve) => {
      setImmediate(() => {
        active -= 1
        resolve(done(1))
      })
    })
    return { outcome, stop: async () => {} }
  }
  await driveLoad({ concurrency: 7, runs: 100 }, start, new AbortController().signal)
  expect({ active, most, started }).toEqual({ active: 0, most: 7, started: 100 })
})

test.each([
  ['after the duration', undefined, { afterEndMs: 20, afterInterruptMs: 60_000 }],
  ['after Ctrl-C', 'interrupt', { afterEndMs: 60_000, afterInterruptMs: 20 }],
])('runs that do not end are stopped %s, and no further ones start', async (_, interrupt, waits) => {
  const interruption = new AbortController()
  const outcomes: RunOutcome[] = []
  let started = 0
  const start = (): ActiveRun => {
    started += 1
    if (interrupt && started === 3) setImmediate(() => interruption.abort())
    let end = (_: RunOutcome): void => {}
    const outcome = new Promise<RunOutcome>((resolve) => {
      end = resolve
    })
    outcome.then((ended) => outcomes.push(ended))
    return { outcome, stop: async () => end({ kind: 'stopped' }) }
  }
  await driveLoad({ concurrency: 3, durationMs: interrupt ? 60_000 : 20 }, start, interruption.signal, waits)
  expect(started).toBe(3)
  expect(outcomes).toEqual(Array(3).fill({ kind: 'stopped' }))
})

test('a load that was interrupted before it began starts no run', async () => {
  const start = (): ActiveRun => expect.unreachable()
  await driveLoad({ concurrency: 7, runs: 100 }, start, AbortSignal.abort())
})

test.each([
  [0.93, 10, ['The load generator used 93 % of a core']],
  [0.8, 10, []],
  // Most of a short load is compiling.
  [0.93, 0.4, []],
])('%s of a core over %s s: warns if the generator may limit the figures', (coreShare, seconds, expected) => {
  const warnings: string[] = []
  warnAboutGenerator({ generator: { cpuMsPerRun: 1, coreShare }, seconds }, (message) => warnings.push(message))
  expect(warnings).toEqual(expected.map((text) => expect.stringContaining(text)))
})

test.each([
  ['http://127.0.0.1:9000/v1', true],
  ['http://[::1]:9000/v1', true],
  ['http://10.1.2.3/v1', true],
  ['http://172.20.0.5/v1', true],
  ['http://192.168.1.5/v1', true],
  ['http://ollama:11434/v1', true],
  ['http://models.internal/v1', true],
  ['http://172.32.0.5/v1', false],
  ['http://11.1.2.3/v1', false],
  ['https://api.together.xyz/v1', false],
  ['http://127.0.0.1.example.com/v1', false],
  ['not an address', false],
  [null, false],
])('%s is an address on this machine or in a private network: %s', (url, expected) => {
  expect(isNearby(url)).toBe(expected)
})
