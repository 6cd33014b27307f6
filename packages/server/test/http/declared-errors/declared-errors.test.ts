/** Walks the contract: every route succeeds, and every error that it declares is produced. A pair without a test fails. */
import { ErrorBody } from '@stet/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiAnswer } from '../api-call.ts'
import { contractRoutes, type WalkedRoute } from '../contract-routes.ts'
import { callWhileDraining } from './draining.ts'
import { ownErrors } from './own-errors.ts'
import { send, successes, successOf } from './requests.ts'
import { sharedErrors, unforeseenFailure } from './shared-errors.ts'
import { openWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const nameOf: Record<number, string> = {
  400: 'BadRequestError',
  401: 'UnauthorizedError',
  403: 'ForbiddenError',
  404: 'NotFoundError',
  409: 'ConflictError',
  412: 'PreconditionFailedError',
  413: 'PayloadTooLargeError',
  415: 'UnsupportedMediaTypeError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  503: 'ServiceUnavailableError',
}

type Produce = (world: World, route: WalkedRoute) => Promise<ApiAnswer>

function scenarioFor(route: WalkedRoute, status: number): Produce | undefined {
  if (status === 500) return unforeseenFailure
  const shared = sharedErrors.find((each) => each.status === status && each.applies(route))
  return ownErrors[`${route.name} ${status}`] ?? shared?.produce
}

function expectError(route: WalkedRoute, status: number, answer: ApiAnswer): void {
  expect(answer.status, answer.text).toBe(status)
  expect(ErrorBody.safeParse(answer.body).error).toBeUndefined()
  const { name } = answer.body
  if (status === 422) expect(['UnprocessableEntityError', 'DocumentRunError']).toContain(name)
  else expect(name).toBe(nameOf[status])
  if (status === 401) expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  if (status === 429 || status === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  if (status === 500) expect(answer.body.details).toEqual({ requestId: answer.headers.get('x-request-id') })
  expect('error' in answer.body, 'the message once more').toBe(route.name === 'runs.attach')
}

describe('the registry of errors', () => {
  it('names no route and no error that the contract does not declare', () => {
    const declared = new Set(contractRoutes.flatMap(({ name, errors }) => errors.map((status) => `${name} ${status}`)))
    expect(Object.keys(ownErrors).filter((pair) => !declared.has(pair))).toEqual([])
    const names = contractRoutes.map(({ name }) => name)
    expect(Object.keys(successes).filter((name) => !names.includes(name))).toEqual([])
    for (const { status, applies } of sharedErrors) {
      const routes = contractRoutes.filter((route) => route.errors.includes(status))
      expect(routes.some(applies), `a shared entry for ${status}`).toBe(true)
    }
  })
})

describe.each(contractRoutes.map((route) => [route.name, route] as const))('%s', (_name, route) => {
  it('succeeds', async () => {
    const answer = await send(world, route, await successOf(world, route))
    expect(route.successes, answer.text).toContain(answer.status)
  })

  for (const status of route.errors.filter((each) => each !== 503)) {
    const produce = scenarioFor(route, status)
    it(`${status}`, async () => {
      expect(produce, `${route.name} declares ${status}, which no test produces`).toBeDefined()
      if (produce) expectError(route, status, await produce(world, route))
    })
  }
})

it('503 of every route, while the server stops', async () => {
  const routes = contractRoutes.filter(({ errors }) => errors.includes(503))
  expect(routes).toEqual(contractRoutes)
  const answers = await callWhileDraining(routes)
  for (const [place, route] of routes.entries()) {
    const answer = answers[place]
    if (!answer) throw new Error(`${route.name} was not answered`)
    expectError(route, 503, answer)
  }
})
