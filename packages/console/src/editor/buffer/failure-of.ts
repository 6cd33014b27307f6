import { ApiError } from '@stet/sdk'
import { messageOf } from '../../app/failure.tsx'
import type { Failure, Problem } from '../autosave.ts'

const busyMs = 2000

/** Reads a failed save. Only a response of stet itself proves that nothing was stored. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof ApiError) || error.reason === 'idempotency-in-progress') return { kind: 'offline' }
  if (error.reason === 'base-changed') return { kind: 'changed' }
  if (error.reason === 'merged-without-force' || error.reason === 'merged-version') return { kind: 'not-a-draft' }
  return problemOf(error)
}

/** Reads a failed request that wrote nothing. */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof ApiError)) return { kind: 'offline' }
  if (error.status === 401) return { kind: 'signed-out' }
  if (error.status === 429 || error.errorCode === 'ServiceUnavailableError')
    return { kind: 'busy', retryMs: retryMsOf(error) }
  if (error.status >= 500 || error.status === 408) return { kind: 'offline' }
  const message = error.reason === 'unknown-version' ? 'the draft was deleted' : messageOf(error)
  return { kind: 'refused', message }
}

function retryMsOf({ headers }: ApiError): number {
  const seconds = Number(headers?.get('retry-after'))
  return seconds > 0 ? seconds * 1000 : busyMs
}
