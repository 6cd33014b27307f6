import { ERROR_CAUSES, type ErrorCause } from './causes/error-causes.ts'
import type { RouteMetadata } from './routes.ts'

/**
 * Causes that no route declares. The first six concern the request itself, before the handler of a route runs. The
 * next one concerns the script of the API reference. The last two occur when clients leave too many large responses
 * unread, and when the client has disconnected.
 */
export const CAUSES_OUTSIDE_ROUTES: readonly ErrorCause[] = [
  'incomplete-body',
  'malformed-http',
  'slow-request',
  'head-too-large',
  'unknown-route',
  'method-not-allowed',
  'compressed-only',
  'too-many-unread-responses',
  'client-disconnected',
]

interface RouteShape {
  method: string
  path: string
  query?: unknown
}

const everywhere = [
  'refused-query',
  'no-key',
  'other-person',
  'unknown-key',
  'failed-authentications',
  'unforeseen',
  'server-stopping',
  'database-unavailable',
  'disk-full',
] as const satisfies readonly ErrorCause[]

const ofBody = [
  'malformed-compression',
  'malformed-json',
  'invalid-body',
  'body-too-large',
  'unsupported-content-type',
  'unsupported-content-encoding',
  'too-many-bytes',
] as const satisfies readonly ErrorCause[]

const ofIdempotency = [
  'invalid-idempotency-key',
  'erased',
  'idempotency-key-reused',
] as const satisfies readonly ErrorCause[]

const ofParameter: Readonly<Record<string, readonly ErrorCause[]>> = {
  projectId: ['unknown-project'],
  versionUuid: ['unknown-version', 'nothing-live'],
  environment: ['unknown-environment'],
  path: ['unknown-document'],
  conversationUuid: ['unknown-conversation'],
  runUuid: ['unknown-run'],
  evaluationUuid: ['unknown-evaluation'],
  exampleUuid: ['unknown-example'],
  experimentUuid: ['unknown-experiment'],
}

/**
 * Returns the error causes of a route, except those in CAUSES_OUTSIDE_ROUTES. Most follow from the route's shape and
 * metadata. `metadata.errors` lists the others.
 *
 * @example
 * causesOf(contract.projects.update, contract.projects.update.metadata) // ['refused-query', …, 'unknown-project']
 */
export function causesOf(route: RouteShape, metadata: RouteMetadata): ErrorCause[] {
  const { method, path, query } = route
  const { scope, idempotent, answersSecret, streams, preconditions = [], isPublic, errors = [] } = metadata
  const parameters = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const causes = new Set<ErrorCause>([
    ...everywhere,
    ...(isPublic ? [] : (['rate-limited'] as const)),
    ...(scope === 'any' ? [] : (['missing-scope'] as const)),
    ...(metadata.refusesRestrictedKeys ? (['restricted-key'] as const) : []),
    ...(query === undefined ? [] : (['invalid-query'] as const)),
    ...(parameters.length === 0 ? [] : (['malformed-path'] as const)),
    ...(readsBody(route, metadata) ? ofBody : []),
    ...(isRefusedWhenFull(route, metadata) ? (['workspace-full'] as const) : []),
    ...parameters.flatMap((name) => ofParameter[name] ?? []),
    ...(idempotent ? ofIdempotency : []),
    // A repeated run request joins the first run instead of failing.
    ...(idempotent && !streams ? (['idempotency-in-progress'] as const) : []),
    ...(answersSecret ? (['idempotency-unreadable'] as const) : []),
    ...(preconditions.includes('If-Match') ? (['if-match-failed'] as const) : []),
    ...(preconditions.includes('If-None-Match') && method !== 'GET' ? (['if-none-match-failed'] as const) : []),
    ...(streams ? (['too-many-streams'] as const) : []),
    ...errors,
  ])
  if (isPublic) for (const cause of ['unknown-key', 'other-person'] as const) causes.delete(cause)
  // A body of the console is never large enough to count.
  if (path.startsWith('/console/')) causes.delete('too-many-bytes')
  // Publishing reports `not-a-draft` for an unknown version too.
  if (method === 'POST' && causes.has('not-a-draft'))
    for (const cause of ofParameter['versionUuid'] ?? []) causes.delete(cause)
  const order = Object.keys(ERROR_CAUSES)
  return [...causes].sort((one, other) => order.indexOf(one) - order.indexOf(other))
}

export function readsBody({ method }: Pick<RouteShape, 'method'>, { ignoresBody, readsBody }: RouteMetadata): boolean {
  return ((method === 'POST' || method === 'PUT') && !ignoresBody) || readsBody === true
}

/** Whether a full workspace refuses the route: those that create or run, and those that replace something of any size. */
export function isRefusedWhenFull({ method }: Pick<RouteShape, 'method'>, metadata: RouteMetadata): boolean {
  return (metadata.idempotent === true || method === 'PUT') && !metadata.worksWhenFull
}
