/**
 * Stop signals and wake-ups for tool results between servers. Both are stored in the database before they are sent, so
 * a lost signal is found by the next renewal of the owner's lease, or by the waiting run itself.
 */
import type { RunSignals } from '../../features/runs/ports.ts'
import type { ToolSignals } from '../../features/runs/tools/tool.ts'
import { createRunSignals, createToolSignals } from '../in-process/run-signals.ts'
import type { SignalChannel } from './signal-channel.ts'

export function createSharedRunSignals(channel: SignalChannel): RunSignals {
  const local = createRunSignals()
  const runsHere = new Set<string>()
  channel.on('stop', (runUuid) => local.stop(runUuid))
  return {
    onStop(runUuid, listener) {
      runsHere.add(runUuid)
      const unlisten = local.onStop(runUuid, listener)
      return () => {
        runsHere.delete(runUuid)
        unlisten()
      }
    },
    // A run of this server is stopped even while Redis is away.
    stop(runUuid) {
      if (runsHere.has(runUuid)) local.stop(runUuid)
      else channel.publish('stop', runUuid)
    },
  }
}

export function createSharedToolSignals(channel: SignalChannel): ToolSignals {
  const local = createToolSignals()
  channel.on('tool', (callId) => local.notify(callId))
  return {
    subscribe: local.subscribe,
    notify: (callId) => channel.publish('tool', callId),
  }
}
