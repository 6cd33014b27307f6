import { LRUCache } from 'lru-cache'
import type { RunSignals } from '../../features/runs/ports.ts'
import type { ToolSignals } from '../../features/runs/tools/tool.ts'

// Keeps an early stop signal for up to 60 s. Afterwards, the renewal of the owner's lease finds the stored request.
const unheard = { ttl: 60_000, ttlAutopurge: true, max: 10_000 } as const

export function createRunSignals(): RunSignals {
  const listeners = new Map<string, () => void>()
  const early = new LRUCache<string, true>(unheard)
  return {
    stop(runUuid) {
      const listener = listeners.get(runUuid)
      if (listener) listener()
      else early.set(runUuid, true)
    },
    onStop(runUuid, listener) {
      listeners.set(runUuid, listener)
      if (early.get(runUuid)) {
        early.delete(runUuid)
        listener()
      }
      return () => listeners.delete(runUuid)
    },
  }
}

export function createToolSignals(): ToolSignals {
  const waiting = new Map<string, () => void>()
  return {
    notify: (callId) => waiting.get(callId)?.(),
    subscribe(callId, wake) {
      waiting.set(callId, wake)
      return () => void waiting.delete(callId)
    },
  }
}
