import type { Request } from 'express'
import { verifyApiKey } from '../../features/access/verify-api-key.ts'
import type { Caller } from '../../shared/caller.ts'
import type { HttpDeps } from '../http-deps.ts'

/** Bearer key -> caller. @throws AppError UnauthorizedError, RateLimitError. */
export function authenticate(deps: HttpDeps, req: Request): Promise<Caller> {
  return verifyApiKey(deps, {
    token: bearerToken(req.headers.authorization),
    // Read for failures alone: finding it takes longer than finding the key.
    get address() {
      return req.ip ?? ''
    },
  })
}

/** The token of an `Authorization` header; undefined for a single word, and of another scheme a text that no key can equal. */
export function bearerToken(header: string | undefined): string | undefined {
  const trimmed = header?.trim()
  if (trimmed === undefined || trimmed === '') return undefined
  const space = trimmed.search(/\s/)
  if (space === -1) return undefined
  return trimmed.slice(0, space).toLowerCase() === 'bearer' ? trimmed.slice(space).trimStart() : trimmed
}
