import { describe, expect, it, onTestFinished } from 'vitest'
import { createSharedFailureLimiter, createSharedRateLimiter } from '../../src/adapters/redis/rate-limiter.ts'
import { isSkippedWithoutRedis, redisConnections, redisProcess, testRedis } from '../support/redis.ts'
import { describeRateLimiter } from './rate-limiter.contract.ts'

const isSkipped = isSkippedWithoutRedis('the rate limiter on Redis')

async function countersOf(address = testRedis()) {
  const connections = await redisConnections(address)
  return { ...connections, servers: () => 3 }
}

describe.skipIf(isSkipped)('on Redis', () => {
  describeRateLimiter('on Redis', {
    create: async () => createSharedRateLimiter(await countersOf()),
    // The end is Redis's own time left, added to the clock of this process. Both may round.
    passTo: (timeMs) => expect.poll(() => Date.now(), { interval: 20 }).toBeGreaterThan(timeMs + 20),
  })

  it('shares one count between servers', async () => {
    const address = testRedis()
    const servers = await Promise.all([1, 2, 3].map(async () => createSharedRateLimiter(await countersOf(address))))
    const spent = await Promise.all(
      Array.from({ length: 30 }, (_, place) => servers[place % servers.length]?.spend(7, 20)),
    )
    expect(spent.filter((each) => each?.allowed)).toHaveLength(20)
    const remaining = spent.filter((each) => each?.allowed).map((each) => each?.remaining ?? Number.NaN)
    expect(remaining.sort((a, b) => b - a)).toEqual(Array.from({ length: 20 }, (_, place) => 19 - place))
  })

  it('allows each server its share, rounded up, while Redis is unavailable', async () => {
    const redis = await redisProcess()
    onTestFinished(() => redis.close())
    const counters = await countersOf({ ...testRedis(redis.url), timeoutMs: 50 })
    const limiter = createSharedRateLimiter(counters)
    expect(await limiter.spend(1, 10)).toMatchObject({ allowed: true, remaining: 9 })
    await redis.kill()
    const spent = await Promise.all(Array.from({ length: 10 }, () => limiter.spend(1, 10)))
    expect(spent.filter(({ allowed }) => allowed)).toHaveLength(4)
    await redis.start()
    await expect.poll(async () => (await limiter.spend(2, 10)).remaining, { interval: 1_100 }).toBe(9)
  })

  it('shares the failed authentications of an address', async () => {
    const address = testRedis()
    const [one, other] = await Promise.all(
      [1, 2].map(async () => createSharedFailureLimiter(2, await countersOf(address))),
    )
    await one?.record('192.0.2.1')
    expect(await other?.blockedSeconds('192.0.2.1')).toBe(0)
    await other?.record('192.0.2.1')
    expect(await one?.blockedSeconds('192.0.2.1')).toBeGreaterThan(0)
    expect(await one?.blockedSeconds('192.0.2.2')).toBe(0)
  })

  it('counts failed authentications on each server while Redis is unavailable', async () => {
    const redis = await redisProcess()
    onTestFinished(() => redis.close())
    const limiter = createSharedFailureLimiter(1, await countersOf({ ...testRedis(redis.url), timeoutMs: 50 }))
    await redis.kill()
    expect(await limiter.blockedSeconds('192.0.2.1')).toBe(0)
    await limiter.record('192.0.2.1')
    expect(await limiter.blockedSeconds('192.0.2.1')).toBeGreaterThan(0)
  })
})
