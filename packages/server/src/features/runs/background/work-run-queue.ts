/** Works the queue: every queued row gets its turn, also those of an earlier process and those whose job was lost. */

import { type Repeated, repeat } from '../../../shared/time/repeat.ts'
import type { Needs } from '../../deps.ts'
import type { StartDeps } from '../start-run.ts'
import { startQueuedRun } from './start-queued-run.ts'

type WorkDeps = StartDeps & Needs<'runQueue'>

const sweepEveryMs = 5_000

/** Resolves when the runs that were left queued are in the queue, in the order of their creation. */
export async function workRunQueue(deps: WorkDeps): Promise<Repeated> {
  await enterQueued(deps)
  deps.runQueue.work((runUuid) =>
    startQueuedRun(deps, runUuid).catch((error: unknown) => {
      // The row stands queued: the next sweep brings it back.
      deps.log.warn('run.start-failed', { runUuid, reason: error instanceof Error ? error.name : '' })
    }),
  )
  const sweeping = repeat(sweepEveryMs, () => enterQueued(deps).catch(() => deps.log.warn('runs.queue-sweep-failed')))
  return {
    async stop() {
      deps.runQueue.stop()
      await sweeping.stop()
    },
  }
}

async function enterQueued(deps: WorkDeps): Promise<void> {
  for (const run of await deps.runs.listQueued()) {
    deps.eventLog.expect(run.runUuid)
    deps.runQueue.add(run)
  }
}
