import type { Request } from 'express'

export interface Preconditions {
  ifMatch?: string
  ifNoneMatch?: string
}

/** `If-Match` and `If-None-Match` as they were sent. */
export function preconditions(req: Pick<Request, 'headers'>): Preconditions {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = req.headers
  return {
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
  }
}
