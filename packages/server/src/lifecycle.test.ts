import { expect, it } from 'vitest'
import { createActiveRuns } from './features/runs/leases/active-runs.ts'
import { Drain } from './http/operations/drain.ts'
import { HttpServer } from './http/server.ts'
import { shutDown } from './lifecycle.ts'

it('rejects if a resource does not close in time', async () => {
  const server = new HttpServer(() => undefined).listen(0, '127.0.0.1')
  const logger = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
  const closing = shutDown(
    {
      server,
      drain: new Drain(),
      deps: { runs: { active: createActiveRuns(1_000_000) }, logger },
      queueWork: { stop: () => Promise.resolve() },
      config: { drainDelayMs: 0, databaseUrl: undefined },
      isServing: true,
      handOver: () => Promise.resolve(),
      close: () => new Promise(() => undefined),
    },
    100,
  )
  await expect(closing).rejects.toThrow('Shutdown did not finish within 0.1 s after the signal; exiting')
})
