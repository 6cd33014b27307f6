/** The adapters whose state a single server keeps in memory, and several servers share through Redis. */
import type { FailureLimiter, RateLimiter } from '../../features/access/ports.ts'
import type { LiveCache } from '../../features/deps.ts'
import type { RunEventLog, RunQueue, RunSignals } from '../../features/runs/ports.ts'
import type { ToolSignals } from '../../features/runs/tools/tool.ts'
import { createLiveCache } from './live-cache.ts'
import { createFailureLimiter, createRateLimiter } from './rate-limiter.ts'
import { createRunEventLog } from './run-event-log.ts'
import { createRunQueue } from './run-queue.ts'
import { createRunSignals, createToolSignals } from './run-signals.ts'

export interface LiveAdapters {
  liveCache: LiveCache
  rateLimiter: RateLimiter
  failures: FailureLimiter
  queue: RunQueue
  signals: RunSignals
  toolSignals: ToolSignals
  eventLog: RunEventLog
  close(): Promise<void>
}

export interface LiveOptions {
  /** Maximum number of background runs at once. */
  workers: number
  maxQueuedPerKey: number
  authFailureLimit: number
  /** Maximum memory for the event logs of ended runs. */
  endedLogBytes: number
}

export function createLiveAdapters(options: LiveOptions): LiveAdapters {
  return {
    liveCache: createLiveCache(),
    rateLimiter: createRateLimiter(),
    failures: createFailureLimiter(options.authFailureLimit),
    queue: createRunQueue(options),
    signals: createRunSignals(),
    toolSignals: createToolSignals(),
    eventLog: createRunEventLog(options.endedLogBytes),
    close: async () => undefined,
  }
}
