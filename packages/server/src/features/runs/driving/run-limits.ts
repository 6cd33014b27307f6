/** The clocks of a run: how long it may take, and how long it goes on when nobody listens. */
import { RunError } from '../../../shared/app-error.ts'
import type { RunSettings } from '../ports.ts'

export interface RunLimits {
  listenersChanged(count: number): void
  /** The run has ended: no clock fires any more. */
  stop(): void
}

export function startLimits(
  /** Without `graceMs` the run needs no listener. */
  settings: Pick<RunSettings, 'runTimeoutMs'> & { graceMs: number | undefined },
  abort: (reason: RunError) => void,
): RunLimits {
  const seconds = settings.runTimeoutMs / 1000
  const deadline = setTimeout(() => {
    const message = `The run took longer than ${seconds} seconds`
    abort(new RunError('run_timeout_error', message, { details: { seconds } }))
  }, settings.runTimeoutMs)
  let grace: NodeJS.Timeout | undefined
  let isStopped = false

  const leave = () =>
    abort(new RunError('abort_error', 'Nobody listens to the run any more', { details: { reason: 'disconnect' } }))

  return {
    listenersChanged(count) {
      clearTimeout(grace)
      if (count > 0 || isStopped || settings.graceMs === undefined) return
      if (settings.graceMs === 0) leave()
      else grace = setTimeout(leave, settings.graceMs)
    },
    stop() {
      isStopped = true
      clearTimeout(deadline)
      clearTimeout(grace)
    },
  }
}
