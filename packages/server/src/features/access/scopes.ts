/** The rights of a caller: the scopes of its key, and its restriction to a project. */
import type { KeyScope } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'

export type Scope = KeyScope

export const defaultScopes: readonly Scope[] = ['read', 'run', 'write', 'publish']

function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.scopes.includes(scope) || caller.scopes.includes('admin')
}

/** @throws AppError ForbiddenError unless the caller has one of the scopes; the first is named. */
export function requireScope(caller: Caller, anyOf: readonly [Scope, ...Scope[]]): void {
  if (anyOf.some((scope) => hasScope(caller, scope))) return
  throw refuse('missing-scope', { required: anyOf[0] })
}

/** @throws AppError ForbiddenError for a key that sees one project only. */
export function requireUnrestricted(caller: Caller): void {
  if (caller.projectId !== null) throw refuse('restricted-key')
}
