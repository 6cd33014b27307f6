import { LRUCache } from 'lru-cache'

/** The time that one workspace may use in the server's thread within a second. */
const SHARE_MS = 50
const WINDOW_MS = 1_000
const MAX_WORKSPACES = 10_000

/** All times are those of a monotonic clock in ms. */
export function createInlineShare() {
  const windows = new LRUCache<number, { since: number; ms: number }>({ max: MAX_WORKSPACES })
  return {
    has(workspaceId: number, now: number): boolean {
      const window = windows.get(workspaceId)
      return !window || now - window.since >= WINDOW_MS || window.ms < SHARE_MS
    },
    spend(workspaceId: number, now: number, ms: number): void {
      const window = windows.get(workspaceId)
      if (window && now - window.since < WINDOW_MS) window.ms += ms
      else windows.set(workspaceId, { since: now, ms })
    },
  }
}
