import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import type { ApiAnswer } from './api-call.ts'
import { type Api, issueKey, openServer } from './scenario.ts'

let server: TestServer
let api: Api

beforeAll(async () => {
  ;({ server, api } = await openServer())
})
afterAll(() => server.close())

// Windows are a second apart; the end that is told may differ by a millisecond within one.
function windowsOf(answers: readonly ApiAnswer[]): ApiAnswer[][] {
  const windows: { end: number; answers: ApiAnswer[] }[] = []
  for (const answer of answers) {
    const end = Number(answer.headers.get('x-ratelimit-reset'))
    const known = windows.find((each) => Math.abs(each.end - end) < 500)
    if (known) known.answers.push(answer)
    else windows.push({ end, answers: [answer] })
  }
  return windows.map((each) => each.answers)
}

describe('promise 17: the limit of a key', () => {
  it.each([10, 50])('of %i is never exceeded in one window, and the headers count it down', async (limit) => {
    const key = await issueKey(api, { plan: 'custom', limit })
    // Until one is refused: a busy machine may spread a burst over several windows.
    const answers: ApiAnswer[] = []
    do answers.push(...(await Promise.all(Array.from({ length: limit * 3 }, () => api('GET', '/projects', { key })))))
    while (!answers.some(({ status }) => status === 429))
    for (const inWindow of windowsOf(answers)) {
      const allowed = inWindow.filter(({ status }) => status === 200)
      expect(allowed.length).toBeLessThanOrEqual(limit)
      const remaining = allowed.map(({ headers }) => Number(headers.get('x-ratelimit-remaining'))).sort((a, b) => b - a)
      expect(remaining).toEqual(allowed.map((_each, index) => limit - 1 - index))
    }
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true)
  })

  it('is its own: another key is not touched by it', async () => {
    const [limited, free] = [await issueKey(api, { plan: 'custom', limit: 1 }), await issueKey(api, {})]
    await Promise.all([1, 2, 3].map(() => api('GET', '/projects', { key: limited })))
    expect((await api('GET', '/projects', { key: free })).status).toBe(200)
  })
})
