/** Causes in the request itself or in its key, which are the same on every route. */
import type { ErrorCause } from '@stet/contract'
import { expect } from 'vitest'
import { generateApiKey } from '../../../src/features/access/api-key.ts'
import type { ApiAnswer } from '../api-call.ts'
import { bodyKeys } from '../api-description.ts'
import { fill, validBody, type WalkedRoute } from '../contract-routes.ts'
import { consoleMark, send } from './requests.ts'
import { inLive, type Scenario } from './scenario.ts'
import { bodyLimitBytes, streamLimit, type World } from './world.ts'

const scopes = ['read', 'run', 'write', 'publish', 'admin']

export const refusedRequests: Partial<Record<ErrorCause, Scenario>> = {
  // The database cannot store NUL in text, so every route refuses it before.
  'refused-query': (world, route) => send(world, route, { query: '?other=%00', body: validBody[route.name] ?? {} }),
  'invalid-query': (world, route) => send(world, route, { query: `?${route.query[0]}=1&${route.query[0]}=2` }),
  'malformed-path': (world, route) => {
    const path = route.path.replace(/:\w+/, '%zz')
    return send(world, { ...route, path: fill(path) }, { body: validBody[route.name] ?? {} })
  },
  'malformed-compression': (world, route) =>
    send(world, route, { body: 'no gzip', headers: { 'content-encoding': 'gzip' } }),
  'malformed-json': (world, route) => send(world, route, { body: '{"a":' }),
  // No body key accepts nested lists of numbers.
  'invalid-body': async (world, route) => {
    const [key = ''] = bodyKeys(route) ?? []
    const answer = await send(world, route, { body: { ...validBody[route.name], [key]: [[0]] } })
    expect(answer.body['message']).toMatch(new RegExp(`^Invalid request: ${key}[.:[]`))
    return answer
  },
  'invalid-idempotency-key': (world, route) =>
    send(world, route, { body: validBody[route.name] ?? {}, headers: { 'idempotency-key': 'x'.repeat(256) } }),
  'body-too-large': (world, route) => send(world, route, { body: JSON.stringify({ x: 'x'.repeat(bodyLimitBytes) }) }),
  'unsupported-content-type': (world, route) =>
    send(world, route, { body: 'x', headers: { 'content-type': 'text/plain' } }),
  'unsupported-content-encoding': (world, route) =>
    send(world, route, { body: '{}', headers: { 'content-encoding': 'zstd' } }),

  'no-key': (world, route) => send(world, route, { key: null }),
  'other-person': async (world, route) => {
    const { cookie } = await world.openSession()
    return send(world, route, { key: null, headers: { ...consoleMark, cookie, 'x-stet-author': '0' } })
  },
  'unknown-key': (world, route) => send(world, route, { key: generateApiKey() }),
  'missing-scope': async (world, route) => {
    const needed = ['admin', ...[route.metadata.scope].flat()]
    const key = await world.keyWith({ scopes: scopes.filter((scope) => !needed.includes(scope)) })
    return send(world, route, { key })
  },
  'restricted-key': async (world, route) => send(world, route, { key: await world.restrictedKey() }),

  'rate-limited': async (world, route) => {
    const key = await world.keyWith({ plan: 'custom', limit: 1 })
    // The rate-limit window may end between two requests, so this tries several times.
    for (;;) {
      const answers = await Promise.all([1, 2, 3].map(() => send(world, route, { key })))
      const limited = answers.find(({ status }) => status === 429)
      if (limited) return limited
    }
  },
  'too-many-bytes': async (world, route) => {
    const { key } = await world.newApiKey({ plan: 'custom', limit: 100_000, scopes })
    const body = JSON.stringify({ x: 'x'.repeat(bodyLimitBytes / 2) })
    for (;;) {
      const answers = await Promise.all([1, 2].map(() => send(world, route, { key, body })))
      const refused = answers.find(({ status }) => status === 429)
      if (refused) return refused
    }
  },
  'too-many-streams': tooManyStreams,
}

async function tooManyStreams(world: World, route: WalkedRoute): Promise<ApiAnswer> {
  const { bench } = world
  const key = await world.keyWith({ scopes: ['run'] })
  const { conversationUuid, end } = await world.openRun()
  const leave = new AbortController()
  const streams = Array.from({ length: streamLimit }, () =>
    bench.post(
      `/conversations/${conversationUuid}/attach`,
      { stream: true },
      { authorization: `Bearer ${key}` },
      leave.signal,
    ),
  )
  for (const { status } of await Promise.all(streams)) expect(status).toBe(200)
  const ids = route.path.includes(':projectId') ? inLive(world) : { conversationUuid }
  const body = { path: 'hello', messages: [{ role: 'user', content: 'x' }], stream: true }
  const answer = await send(world, route, { ids, body, key })
  leave.abort()
  await end()
  return answer
}
