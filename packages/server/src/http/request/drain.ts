/** The behavior of http while the server stops: pending requests finish, connections close, new work is refused. */
import type { ServerResponse } from 'node:http'
import { refuse } from '../../shared/app-error.ts'

export interface Drain {
  readonly isDraining: boolean
  /** The API answers 503 to what still arrives on open connections. */
  readonly isRefusing: boolean
  /** Responses that have not left the process yet. */
  openResponses(): number
  /** The requests among them that do not wait for a run. */
  openRequests(): number
  /** From now on no connection is kept after its answer. */
  begin(): void
  /** From now on new work is refused. */
  refuseWork(): void
  /** Before everything that may answer. */
  enter(res: ServerResponse): void
  /** The response waits for the end of a run. */
  followRun(res: ServerResponse): void
  /** Once the response was sent, or its connection was closed. */
  leave(res: ServerResponse): void
}

export function createDrain(): Drain {
  const open = new Set<ServerResponse>()
  const followingRuns = new Set<ServerResponse>()
  let isDraining = false
  let isRefusing = false
  return {
    get isDraining() {
      return isDraining
    },
    get isRefusing() {
      return isRefusing
    },
    openResponses: () => open.size,
    openRequests: () => open.size - followingRuns.size,
    begin() {
      isDraining = true
      for (const res of open) if (!res.headersSent) res.setHeader('Connection', 'close')
    },
    refuseWork() {
      isRefusing = true
    },
    enter(res) {
      open.add(res)
      if (isDraining) res.setHeader('Connection', 'close')
    },
    followRun(res) {
      if (open.has(res)) followingRuns.add(res)
    },
    leave(res) {
      open.delete(res)
      followingRuns.delete(res)
    },
  }
}

/** @throws AppError ServiceUnavailableError, before everything that begins work. */
export function refuseWhileStopping({ isRefusing }: Pick<Drain, 'isRefusing'>): void {
  if (isRefusing) throw refuse('server-stopping')
}
