/**
 * Stop signals and wake-ups for tool results between servers. Both are stored in the database before they are sent.
 * After a lost signal, the renewal of the owner's lease finds the stop request, and the waiting run finds the result.
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
    // A run of this server needs no signal, so stopping it works while Redis is unavailable.
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
