/** Drops event logs and answers of tools after their retention time; what the end said stays, and so does the conversation. */

import { type Repeated, repeat } from '../../../shared/time/repeat.ts'
import type { Needs } from '../../deps.ts'

const dropEveryMs = 60_000

/** Starts to drop; the first time soon after the start, then once a minute. */
export function dropEventLogs(deps: Needs<'runs' | 'toolCalls' | 'runSettings' | 'clock' | 'log'>): Repeated {
  // Everything that ended before was dropped already: the whole past is looked at once, not every time.
  let from = new Date(0)
  return repeat(dropEveryMs, async () => {
    const before = new Date(deps.clock.now().getTime() - deps.runSettings.eventRetentionMs)
    try {
      while ((await deps.runs.dropEventLogs(from, before)) > 0);
      while ((await deps.toolCalls.dropAnswers(from, before)) > 0);
      from = before
    } catch {
      deps.log.warn('runs.event-logs-not-dropped')
    }
  })
}
