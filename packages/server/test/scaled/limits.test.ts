/** Promise 17 with three processes: one key has one limit, however its requests spread over the servers. */
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { issueKey } from '../http/scenario.ts'
import { count } from '../support/counts.ts'
import { openReplicas, type Replicas } from '../support/replicas.ts'

const forMs = count(2, 600) * 1_000
/** On every change each limit is exceeded several times. Before a release as often as the machine can. */
const pauseMs = count(10, 0)

let replicas: Replicas
let pools: Pool[]
beforeAll(async () => {
  replicas = await openReplicas({ hello: 'Hello' })
  pools = [0, 1, 2].map((place) => new Pool(replicas.server(place).url, { connections: 2, pipelining: 50 }))
})
afterAll(async () => {
  for (const pool of pools) await pool.close()
  await replicas.close()
})

interface Answer {
  status: number
  limit: number
  remaining: number
  /** When the window ends, in ms since 1970. */
  end: number
  retryAfter: string | undefined
}

async function ask(pool: Pool, key: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await pool.request({ method: 'GET', path: '/api/v3/me', headers })
  await answer.body.dump()
  const header = (name: string) => Number(answer.headers[name])
  return {
    status: answer.statusCode,
    limit: header('x-ratelimit-limit'),
    remaining: header('x-ratelimit-remaining'),
    end: header('x-ratelimit-reset'),
    retryAfter: answer.headers['retry-after']?.toString(),
  }
}

/** Windows are at least a second apart. Their reported ends vary by the time between Redis and the server. */
function windowsOf(answers: readonly Answer[]): Answer[][] {
  const windows: Answer[][] = []
  let end = Number.NEGATIVE_INFINITY
  for (const answer of [...answers].sort((a, b) => a.end - b.end)) {
    if (answer.end - end > 500) windows.push([])
    end = answer.end
    windows.at(-1)?.push(answer)
  }
  return windows
}

describe('promise 17: limit of a key over three servers', () => {
  it.each([10, 166, 500])(
    'of %d is never exceeded in one window, and the headers count it down',
    async (limit) => {
      const key = await issueKey(replicas.server(0).api, { plan: 'custom', limit })
      // All servers read the key before the windows are counted.
      await Promise.all(pools.map((pool) => ask(pool, key)))
      await delay(1_100)
      const answers: Answer[] = []
      const until = performance.now() + forMs
      const client = async (pool: Pool) => {
        while (performance.now() < until) {
          const burst = Math.max(4, Math.ceil(limit / 20))
          answers.push(...(await Promise.all(Array.from({ length: burst }, () => ask(pool, key)))))
          if (pauseMs > 0) await delay(pauseMs)
        }
      }
      await Promise.all(pools.map(client))
      const windows = windowsOf(answers)
      for (const window of windows) {
        const allowed = window.filter(({ status }) => status === 200)
        expect(allowed.length).toBeLessThanOrEqual(limit)
        // Each allowed request took one point, and the servers reported each of them once.
        const remaining = allowed.map((each) => each.remaining).sort((a, b) => b - a)
        expect(remaining).toEqual(allowed.map((_each, place) => limit - 1 - place))
        if (window.length > allowed.length) expect(allowed.length).toBe(limit)
      }
      // A million answers are too many for one expectation each.
      const isAsPromised = (answer: Answer) =>
        answer.limit === limit &&
        (answer.status === 200 || (answer.status === 429 && answer.remaining === 0 && answer.retryAfter === '1'))
      expect(answers.filter((answer) => !isAsPromised(answer))).toEqual([])
      expect(windows.length).toBeGreaterThanOrEqual(Math.floor(forMs / 2_000))
      if (limit === 10) expect(answers.some(({ status }) => status === 429)).toBe(true)
    },
    2 * forMs + 60_000,
  )
})
