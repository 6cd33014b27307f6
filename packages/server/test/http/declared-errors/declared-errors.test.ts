/** Every route must succeed and produce every error that it declares. A pair without a scenario fails. */
import { ErrorBody, type ErrorCause, statusOf } from '@stet/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiAnswer } from '../api-call.ts'
import { allRoutes, type WalkedRoute } from '../contract-routes.ts'
import { causeOf } from '../declared-answers.ts'
import { type Opened, openServer } from '../scenario.ts'
import { atOnce } from './at-once.ts'
import { idempotencyCauses } from './idempotency-causes.ts'
import { ownCauses } from './own-causes.ts'
import { refusedRequests } from './refused-requests.ts'
import { send, successes, successOf } from './requests.ts'
import type { Scenario } from './scenario.ts'
import { unknownIds } from './unknown-ids.ts'
import { openWorld, type World } from './world.ts'

let world: World
let strict: Opened
beforeAll(async () => {
  world = await openWorld()
  strict = await openServer({ STET_AUTH_FAILURE_LIMIT: '1', STET_WORKSPACE_MAX_MB: '1', STET_LOG_LEVEL: 'off' })
})
afterAll(async () => {
  await world.close()
  await strict.server.close()
})

const shared: Partial<Record<ErrorCause, Scenario>> = { ...refusedRequests, ...unknownIds, ...idempotencyCauses }

/** A route's own scenario overrides the shared one. */
function scenarioFor(route: WalkedRoute, cause: ErrorCause): Scenario | undefined {
  return ownCauses[`${route.name} ${cause}`] ?? shared[cause]
}

function expectError(route: WalkedRoute, cause: ErrorCause, answer: ApiAnswer): void {
  const status = statusOf(cause)
  expect(answer.status, answer.text).toBe(status)
  expect(ErrorBody.safeParse(answer.body).error).toBeUndefined()
  expect(causeOf(answer.body), answer.text).toBe(cause)
  if (status === 401) expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  if (status === 429 || status === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  if (cause === 'unforeseen') expect(answer.body.details).toEqual({ requestId: answer.headers.get('x-request-id') })
  expect('error' in answer.body, 'the message once more').toBe(route.name === 'runs.attach')
}

describe('scenario registry', () => {
  it('contains only routes and causes that the contract declares', () => {
    const declared = new Set(allRoutes.flatMap(({ name, causes }) => causes.map((cause) => `${name} ${cause}`)))
    expect(Object.keys(ownCauses).filter((pair) => !declared.has(pair))).toEqual([])
    const names = allRoutes.map(({ name }) => name)
    expect(Object.keys(successes).filter((name) => !names.includes(name))).toEqual([])
    for (const cause of Object.keys(shared) as ErrorCause[]) {
      const needing = allRoutes.filter(({ name, causes }) => causes.includes(cause) && !ownCauses[`${name} ${cause}`])
      expect(needing, `a shared scenario for ${cause}`).not.toEqual([])
    }
  })
})

describe.each(allRoutes.map((route) => [route.name, route] as const))('%s', (_name, route) => {
  it('succeeds', async () => {
    const answer = await send(world, route, await successOf(world, route))
    expect(route.successes, answer.text).toContain(answer.status)
  })

  for (const cause of route.causes.filter((each) => !(each in atOnce))) {
    const scenario = scenarioFor(route, cause)
    it(`${statusOf(cause)} ${cause}`, async () => {
      expect(scenario, `${route.name} declares ${cause}, which no test produces`).toBeDefined()
      if (scenario) expectError(route, cause, await scenario(world, route))
    })
  }
})

it.each(Object.entries(atOnce))('every route that declares %s returns it', async (name, produce) => {
  const cause = name as ErrorCause
  const routes = allRoutes.filter(({ causes }) => causes.includes(cause))
  expect(routes.length).toBeGreaterThan(0)
  const answers = await produce(routes, { world, strict })
  expect(answers).toHaveLength(routes.length)
  for (const [place, answer] of answers.entries()) {
    const route = routes[place]
    if (route) expectError(route, cause, answer)
  }
})
