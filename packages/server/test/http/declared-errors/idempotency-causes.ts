/** Causes that depend on an earlier request with the same `Idempotency-Key`. */
import { randomUUID } from 'node:crypto'
import type { ErrorCause } from '@stet/contract'
import type { WalkedRoute } from '../contract-routes.ts'
import { type RouteRequest, send, successOf } from './requests.ts'
import type { Scenario } from './scenario.ts'
import type { World } from './world.ts'

export const idempotencyCauses: Partial<Record<ErrorCause, Scenario>> = {
  'idempotency-in-progress': async (world, route) => {
    const repetition = await sentUnderKey(world, route)
    // Simulates another process that still works on the request.
    const other = randomUUID()
    const { session } = world.bench.server.database
    await session.query(`INSERT INTO instance (id, lease_until) VALUES ($1, now() + interval '1 hour')`, [other])
    await changeLastRecord(world, `owner_id = '${other}', answer = NULL, run_uuid = NULL, conversation_uuid = NULL`)
    return send(world, route, repetition)
  },
  erased: async (world, route) => {
    const repetition = await sentUnderKey(world, route)
    // Simulates a purge, which leaves nothing but the id.
    await changeLastRecord(world, `answer = '', request_hash = '', run_uuid = NULL, conversation_uuid = NULL`)
    return send(world, route, repetition)
  },
  'idempotency-key-reused': async (world, route) => {
    const repetition = await sentUnderKey(world, route)
    const body = typeof repetition.body === 'object' ? repetition.body : {}
    return send(world, route, { ...repetition, body: { ...body, __internal: 'other' } })
  },
  'idempotency-unreadable': async (world, route) => {
    const repetition = await sentUnderKey(world, route)
    // Simulates a record whose encryption key was removed from the ring.
    await changeLastRecord(world, `answer = regexp_replace(answer, '^v1\\.[0-9a-f]+', 'v1.00000000')`)
    return send(world, route, repetition)
  },
}

/** Sends a request with an idempotency key and returns it, ready to be repeated. */
async function sentUnderKey(world: World, route: WalkedRoute): Promise<RouteRequest> {
  const request = await successOf(world, route)
  const keyed = { ...request, headers: { ...request.headers, 'idempotency-key': randomUUID() } }
  const { status, text } = await send(world, route, keyed)
  if (status >= 300) throw new Error(`It was to succeed first: ${status} ${text}`)
  return keyed
}

/** Of requests: the runs of an experiment have records too, without a hash of a request. */
async function changeLastRecord({ bench }: World, change: string): Promise<void> {
  await bench.server.database.session.query(
    `UPDATE idempotency_record SET ${change}
     WHERE created_at = (SELECT max(created_at) FROM idempotency_record WHERE request_hash <> '')`,
  )
}
