import type { RequestHandler } from 'express'
import { verifyApiKey } from '../../features/access/verify-api-key.ts'
import type { HttpDeps } from '../http-deps.ts'
import { contextOf } from './request-context.ts'

/** Bearer key -> caller, ahead of everything else under the API prefix. */
export function authenticate(deps: HttpDeps): RequestHandler {
  return async (req, res, next) => {
    const token = bearerToken(req.headers.authorization)
    // Read for failures alone: finding it takes longer than finding the key.
    const attempt = {
      token,
      get address() {
        return req.ip ?? ''
      },
    }
    contextOf(res).caller = await verifyApiKey(deps, attempt)
    next()
  }
}

/** The token of an `Authorization` header; another scheme gives a text that no key can equal. */
export function bearerToken(header: string | undefined): string | undefined {
  const trimmed = header?.trim()
  if (trimmed === undefined || trimmed === '') return undefined
  const space = trimmed.search(/\s/)
  const scheme = space === -1 ? trimmed : trimmed.slice(0, space)
  if (scheme.toLowerCase() !== 'bearer') return trimmed
  return space === -1 ? undefined : trimmed.slice(space).trimStart()
}
