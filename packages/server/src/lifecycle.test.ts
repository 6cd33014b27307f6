import { expect, it } from 'vitest'
import { createActiveRuns } from './features/runs/leases/active-runs.ts'
import { Drain } from './http/operations/drain.ts'
import { HttpServer } from './http/server.ts'
import { shutDown } from './lifecycle.ts'

function stopping(close: () => Promise<void>) {
  const active = createActiveRuns(1_000_000)
  const logger = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
  const input = {
    server: new HttpServer(() => undefined).listen(0, '127.0.0.1'),
    drain: new Drain(),
    deps: { runs: { active }, logger },
    queueWork: { stop: () => Promise.resolve() },
    // No time for active runs.
    config: { drainDelayMs: 0, drainSeconds: 0, databaseUrl: undefined },
    isServing: true,
    handOver: () => Promise.resolve(),
    close,
  }
  return { active, input }
}

it('rejects if a resource does not close in time', async () => {
  const { input } = stopping(() => new Promise(() => undefined))
  await expect(shutDown(input, 100)).rejects.toThrow('Shutdown did not finish within 0.1 s after the signal; exiting')
})

it('ends runs with worker_lost when their time to end is over', async () => {
  const { active, input } = stopping(() => Promise.resolve())
  const ids = { runUuid: 'r', conversationUuid: 'c', workspaceId: 1 }
  const reasons: unknown[] = []
  const abort = (reason: unknown) => {
    reasons.push(reason)
    active.remove(ids, undefined)
  }
  const view = () => {
    throw new Error('a stop reads no conversation')
  }
  active.add({ ...ids, view, ended: Promise.resolve(undefined), abort, giveUp: () => undefined })
  await shutDown(input)
  expect(reasons).toMatchObject([{ code: 'worker_lost' }])
})
