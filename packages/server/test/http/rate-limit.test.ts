import { Pool } from 'undici'
import { afterAll, describe, expect, it } from 'vitest'
import { count } from '../support/counts.ts'
import { issueKey } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()
/** Few connections with many requests each, because hundreds must get a response within a second. */
const pool = new Pool(server.url, { connections: 4, pipelining: 100 })
afterAll(() => pool.close())

interface Answer {
  status: number
  remaining: number
  end: number
}

async function ask(key: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await pool.request({ method: 'GET', path: '/api/v3/me', headers })
  await answer.body.dump()
  return {
    status: answer.statusCode,
    remaining: Number(answer.headers['x-ratelimit-remaining']),
    end: Number(answer.headers['x-ratelimit-reset']),
  }
}

// Windows are a second apart. The reported end may vary by a millisecond within one window.
function windowsOf(answers: readonly Answer[]): Answer[][] {
  const windows: { end: number; answers: Answer[] }[] = []
  for (const answer of answers) {
    const known = windows.find((each) => Math.abs(each.end - answer.end) < 500)
    if (known) known.answers.push(answer)
    else windows.push({ end: answer.end, answers: [answer] })
  }
  return windows.map((each) => each.answers)
}

describe('promise 17: rate limit of an API key', () => {
  // A machine that handles fewer requests per second than the limit refuses none. The large limit then only counts
  // down.
  it.each([
    { limit: 10, bursts: Number.POSITIVE_INFINITY },
    { limit: count(166, 500), bursts: 1 },
  ])(
    'of $limit is never exceeded in one window, and the headers count it down',
    async ({ limit, bursts }) => {
      const key = await issueKey(api, { plan: 'custom', limit })
      const answers: Answer[] = []
      const isRefused = () => answers.some(({ status }) => status === 429)
      // A busy machine may spread a burst over several windows, so the test sends more bursts.
      for (let burst = 0; burst < bursts && !isRefused(); burst += 1)
        answers.push(...(await Promise.all(Array.from({ length: limit * 2 }, () => ask(key)))))
      for (const inWindow of windowsOf(answers)) {
        const allowed = inWindow.filter(({ status }) => status === 200)
        expect(allowed.length).toBeLessThanOrEqual(limit)
        const remaining = allowed.map((each) => each.remaining).sort((a, b) => b - a)
        expect(remaining).toEqual(allowed.map((_each, index) => limit - 1 - index))
        if (inWindow.length > allowed.length) expect(allowed.length).toBe(limit)
      }
      expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true)
    },
    300_000,
  )
})
