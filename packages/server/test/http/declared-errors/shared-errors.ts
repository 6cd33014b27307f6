/** Errors that many routes give in one and the same way: each entry serves all routes that it applies to. */
import type { ApiAnswer } from '../api-call.ts'
import { validBody, type WalkedRoute } from '../contract-routes.ts'
import { send, successOf } from './requests.ts'
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
]

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
