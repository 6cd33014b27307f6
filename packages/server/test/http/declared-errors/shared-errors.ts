/** Errors that many routes give in one and the same way: each entry serves all routes that it applies to. */
import { randomUUID } from 'node:crypto'
import type { ApiAnswer } from '../api-call.ts'
import { validBody, type WalkedRoute } from '../contract-routes.ts'
import { type RouteRequest, send, successOf } from './requests.ts'
import { bodyLimitBytes, type World } from './world.ts'

export interface SharedError {
  status: number
  applies(route: WalkedRoute): boolean
  produce(world: World, route: WalkedRoute): Promise<ApiAnswer>
}

const always = () => true
const scopes = ['read', 'run', 'write', 'publish', 'admin']

/** A route's own scenario, where it has one for the status, comes before these. */
export const sharedErrors: readonly SharedError[] = [
  // The database refuses NUL in a text; so does the door, on every route.
  { status: 400, applies: always, produce: (world, route) => send(world, route, { query: '?x=%00' }) },
  { status: 401, applies: always, produce: (world, route) => send(world, route, { key: null }) },
  {
    status: 403,
    applies: ({ metadata }) => metadata.scope !== 'any',
    async produce(world, route) {
      const needed = ['admin', ...[route.metadata.scope].flat()]
      const key = await world.keyWith({ scopes: scopes.filter((scope) => !needed.includes(scope)) })
      return send(world, route, { key })
    },
  },
  {
    status: 404,
    applies: ({ path }) => path.includes(':'),
    produce: (world, route) => send(world, route, { body: validBody[route.name] ?? {} }),
  },
  {
    status: 413,
    applies: always,
    produce: (world, route) => send(world, route, { body: JSON.stringify({ x: 'x'.repeat(bodyLimitBytes) }) }),
  },
  {
    status: 415,
    applies: always,
    produce: (world, route) => send(world, route, { body: 'x', headers: { 'content-type': 'text/plain' } }),
  },
  {
    status: 429,
    applies: always,
    async produce(world, route) {
      const key = await world.keyWith({ plan: 'custom', limit: 1 })
      // The window may end between two requests: then there is another one.
      for (;;) {
        const answers = await Promise.all([1, 2, 3].map(() => send(world, route, { key })))
        const limited = answers.find(({ status }) => status === 429)
        if (limited) return limited
      }
    },
  },
  {
    status: 409,
    applies: ({ metadata }) => metadata.idempotent,
    async produce(world, route) {
      const { request, key } = await sentUnderKey(world, route)
      // As if another process were still at work on it.
      const other = randomUUID()
      const { session } = world.bench.server.database
      await session.query(`INSERT INTO instance (id, lease_until) VALUES ($1, now() + interval '1 hour')`, [other])
      await session.query(
        `UPDATE idempotency_record SET owner_id = $1, answer = NULL, run_uuid = NULL, conversation_uuid = NULL
         WHERE created_at = (SELECT max(created_at) FROM idempotency_record)`,
        [other],
      )
      return send(world, route, { ...request, headers: key })
    },
  },
  {
    status: 422,
    applies: ({ metadata }) => metadata.idempotent,
    async produce(world, route) {
      const { request, key } = await sentUnderKey(world, route)
      const body = typeof request.body === 'object' ? request.body : {}
      return send(world, route, { ...request, body: { ...body, __internal: 'other' }, headers: key })
    },
  },
]

/** A request that has succeeded under an idempotency key. */
async function sentUnderKey(
  world: World,
  route: WalkedRoute,
): Promise<{ request: RouteRequest; key: Record<string, string> }> {
  const request = await successOf(world, route)
  const key = { ...request.headers, 'idempotency-key': randomUUID() }
  const { status, text } = await send(world, route, { ...request, headers: key })
  if (status >= 300) throw new Error(`It was to succeed first: ${status} ${text}`)
  return { request, key }
}

/** What nobody foresaw: the tables are gone. */
export async function withoutTables<T>({ bench }: World, work: () => Promise<T>): Promise<T> {
  const { session } = bench.server.database
  await session.query('ALTER SCHEMA public RENAME TO elsewhere')
  try {
    return await work()
  } finally {
    await session.query('ALTER SCHEMA elsewhere RENAME TO public')
  }
}

/** A request that would succeed, while the tables are gone. */
export async function unforeseenFailure(world: World, route: WalkedRoute): Promise<ApiAnswer> {
  const request = await successOf(world, route)
  return withoutTables(world, () => send(world, route, request))
}
