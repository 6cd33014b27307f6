/**
 * Lists why the server refuses requests. Error bodies, the OpenAPI document, docs/errors.md and the table of the
 * clients derive from it. Its order is that of the documentation.
 */
import { STATUS_BY_CODE } from '../vocabulary/error-codes.ts'
import { PROCESSING_CAUSES } from './processing.ts'
import { REQUEST_CAUSES } from './requests.ts'
import { RESOURCE_CAUSES } from './resources.ts'

export const ERROR_CAUSES = { ...REQUEST_CAUSES, ...RESOURCE_CAUSES, ...PROCESSING_CAUSES } as const

export type ErrorCause = keyof typeof ERROR_CAUSES

/** @example statusOf('unknown-project') // 404 */
export function statusOf(cause: ErrorCause): number {
  if (cause === 'compressed-only') return 406
  if (cause === 'slow-request') return 408
  if (cause === 'head-too-large') return 431
  return STATUS_BY_CODE[ERROR_CAUSES[cause].code]
}
