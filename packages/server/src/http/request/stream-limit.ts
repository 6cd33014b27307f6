/** How many event streams each key holds open; the number is bounded so that no key takes all sockets. */
import type { Response } from 'express'
import { refuse } from '../../shared/app-error.ts'

export interface StreamLimit {
  /** Counts one stream until the response closes. @throws AppError RateLimitError for a key with too many. */
  enter(apiKeyId: number, res: Pick<Response, 'once'>): void
}

export function createStreamLimit(maxPerKey: number): StreamLimit {
  const open = new Map<number, number>()
  return {
    enter(apiKeyId, res) {
      const count = open.get(apiKeyId) ?? 0
      if (count >= maxPerKey) {
        throw refuse('too-many-streams', { limit: maxPerKey, retryAfter: 1 })
      }
      open.set(apiKeyId, count + 1)
      res.once('close', () => {
        const left = (open.get(apiKeyId) ?? 1) - 1
        if (left === 0) open.delete(apiKeyId)
        else open.set(apiKeyId, left)
      })
    },
  }
}
