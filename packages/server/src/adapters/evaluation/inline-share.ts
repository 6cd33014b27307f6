import { LRUCache } from 'lru-cache'

/** The time that one workspace may use in the server's thread within a second. */
const SHARE_MS = 50
const WINDOW_MS = 1_000
const MAX_WORKSPACES = 10_000

export function createInlineShare(now = () => performance.now()) {
  const spent = new LRUCache<number, { since: number; ms: number }>({ max: MAX_WORKSPACES })
  const windowOf = (workspaceId: number) => {
    const found = spent.get(workspaceId)
    return found && now() - found.since < WINDOW_MS ? found : undefined
  }
  return {
    has: (workspaceId: number): boolean => (windowOf(workspaceId)?.ms ?? 0) < SHARE_MS,
    spend(workspaceId: number, ms: number): void {
      const window = windowOf(workspaceId)
      if (window) window.ms += ms
      else spent.set(workspaceId, { since: now(), ms })
    },
  }
}
