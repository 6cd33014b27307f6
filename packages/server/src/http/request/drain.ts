/** How the front door behaves while the server stops: what has begun is answered, no connection is kept, new work is refused. */
import type { RequestHandler, Response } from 'express'
import { AppError } from '../../shared/app-error.ts'

export interface Drain {
  readonly isDraining: boolean
  /** Responses that have not left the process yet. */
  openResponses(): number
  /** From now on no connection is kept after its answer. */
  begin(): void
  /** From now on the API answers 503 to what still arrives on open connections. */
  refuseWork(): void
  /** Before everything that may answer. */
  watch: RequestHandler
  /** Before everything that begins work. */
  refuse: RequestHandler
}

export function createDrain(): Drain {
  const open = new Set<Response>()
  let isDraining = false
  let isRefusing = false
  return {
    get isDraining() {
      return isDraining
    },
    openResponses: () => open.size,
    begin() {
      isDraining = true
      for (const res of open) if (!res.headersSent) res.setHeader('Connection', 'close')
    },
    refuseWork() {
      isRefusing = true
    },
    watch(_req, res, next) {
      open.add(res)
      res.once('close', () => open.delete(res))
      if (isDraining) res.setHeader('Connection', 'close')
      next()
    },
    refuse(_req, _res, next) {
      next(isRefusing ? new AppError('ServiceUnavailableError', 'The server is stopping') : undefined)
    },
  }
}
