import { ErrorBody, readsBody } from '@stet/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { count, seed, timeFor } from '../support/counts.ts'
import { browser } from './console-call.ts'
import { consoleRoutes, fill } from './contract-routes.ts'
import { issueKey, type Opened, openServer, openTenant } from './scenario.ts'
import { bodyOf, hostileHeaders, hostileText, queryOf } from './schema-inputs.ts'

const casesPerRoute = count(40, 10_000)

let opened: Opened
beforeAll(async () => {
  opened = await openServer()
})
afterAll(() => opened.server.close())

describe.concurrent('promise 16 for the routes of the console', () => {
  it.each(consoleRoutes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s answers hostile input with a documented error',
    async (_name, route) => {
      const hasBody = readsBody(route, route.metadata)
      const signedIn = browser(opened.server.url)
      const { body: session } = await signedIn.signIn({ apiKey: opened.key })
      const valid = { body: route.name === 'console.signIn' ? { apiKey: opened.key } : {} }
      const path = fill(route.path, { id: String(session['id']) })
      const { status, text } = await signedIn.call(route.method, path, hasBody ? valid : {})
      expect(route.successes, text).toContain(status)
      const input = fc.record({
        id: fc.oneof(hostileText, fc.constantFrom('0', '-1', '2147483647', '2147483648')),
        query: queryOf(route),
        headers: hostileHeaders,
        body: fc.oneof(
          (bodyOf(route) ?? fc.constant({})).map((body) => JSON.stringify(body)),
          fc.json(),
          hostileText,
        ),
      })
      const key = { authorization: `Bearer ${opened.key}`, 'x-stet-console': '1', 'content-type': 'application/json' }
      const send = async ({ id, query, headers, body }: typeof input extends fc.Arbitrary<infer T> ? T : never) => {
        const search = new URLSearchParams(query).toString()
        const path = fill(route.path, { id: id.replace(/\p{Surrogate}/gu, '') })
        const sent = { headers: { ...key, ...headers }, ...(hasBody ? { body } : {}) }
        const page = browser(opened.server.url)
        const answer = await page.call(route.method, search === '' ? path : `${path}?${search}`, sent)
        expect(answer.status, answer.text).toBeLessThan(500)
        if (answer.status >= 400) expect(ErrorBody.safeParse(answer.body).error).toBeUndefined()
        expect(page.cookie).toBeUndefined()
      }
      await fc.assert(fc.asyncProperty(input, send), { numRuns: casesPerRoute - 1, seed })
    },
    timeFor(casesPerRoute, 1_000),
  )
})

it("another tenant's sessions and keys are unknown", async () => {
  const { server, api } = opened
  const foreignKey = await openTenant(server, 'other tenant')
  const theirs = browser(server.url)
  const { body } = await theirs.signIn({ apiKey: foreignKey })
  const { id, apiKey } = body as unknown as { id: number; apiKey: { id: number } }
  const page = browser(server.url)
  await page.signIn({ apiKey: await issueKey(api, { scopes: ['admin'] }) })
  const listed = (await page.call('GET', '/console/sessions')).body as unknown as { id: number }[]
  expect(listed.map((session) => session.id)).not.toContain(id)
  for (const [foreign, unknown] of [
    [page.call('DELETE', `/console/sessions/${id}`), page.call('DELETE', '/console/sessions/999999')],
    [
      page.call('POST', '/console/links', { body: { apiKeyId: apiKey.id } }),
      page.call('POST', '/console/links', { body: { apiKeyId: 999_999 } }),
    ],
  ]) {
    const answers = await Promise.all([foreign, unknown])
    expect(answers[0]?.status).toBe(404)
    expect(answers[0]?.body).toEqual(answers[1]?.body)
  }
  expect((await theirs.call('GET', '/console/session')).status).toBe(200)
})
