/** Wake-ups for waiting tool calls, within this process. */
import type { ToolSignals } from '../../features/runs/execution/tools/tool-calls.ts'

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
