import type { CauseEntry } from '../vocabulary/error-codes.ts'

/** When an error occurs, and what the caller does next. For the OpenAPI document and docs/errors.md. */
export interface Explanation {
  /** A clause without a capital letter or a full stop. */
  when: string
  /** Sentences. */
  next: string
}

/**
 * A cause with its documentation. Clients get the entry without it (`vocabulary/error-causes.ts`).
 * @example { code: 'NotFoundError', message: 'Project not found', when: 'the project is unknown', next: 'List the projects.' }
 */
export interface DocumentedCause extends CauseEntry, Explanation {}
