import { describe, expect, it, onTestFinished } from 'vitest'
import { faultProxy } from '../support/fault-proxy.ts'
import { heardMs } from '../support/heard-time.ts'
import { isSkippedWithoutRedis, redisConnections, redisProcess, testRedis } from '../support/redis.ts'

const isSkipped = isSkippedWithoutRedis('connections to Redis')

describe.skipIf(isSkipped)('connections to Redis', () => {
  it('do not fail a command that Redis answered while this process was busy', async () => {
    const { requests } = await redisConnections({ ...testRedis(), timeoutMs: 50 })
    const answers = [requests.ping(), requests.get('none')]
    await new Promise((resolve) => setImmediate(resolve))
    const until = performance.now() + 200
    while (performance.now() < until);
    expect(await Promise.all(answers)).toEqual(['PONG', null])
  })

  it('fail at once while Redis is away, after 50 ms while it is frozen, and recover', async () => {
    const redis = await redisProcess()
    onTestFinished(() => redis.close())
    const { requests } = await redisConnections({ url: redis.url, prefix: 'test', timeoutMs: 50 })
    redis.pause()
    const frozen = requests.ping()
    expect(await heardMs(expect(frozen).rejects.toThrow('Command timed out'))).toBeLessThan(100)
    redis.resume()
    await expect.poll(() => requests.ping().catch(() => undefined)).toBe('PONG')
    await redis.kill()
    await expect.poll(() => requests.status).not.toBe('ready')
    expect(await heardMs(expect(requests.ping()).rejects.toThrow())).toBeLessThan(50)
    await redis.start()
    await expect.poll(() => requests.ping().catch(() => undefined)).toBe('PONG')
  })

  it('fail a response that arrives too slowly, and recover', async () => {
    const redis = await redisProcess()
    const proxy = await faultProxy(redis.port)
    onTestFinished(async () => {
      await proxy.close()
      await redis.close()
    })
    const { requests } = await redisConnections({
      url: `redis://127.0.0.1:${proxy.port}`,
      prefix: 'test',
      timeoutMs: 200,
    })
    const value = 'x'.repeat(100_000)
    await requests.set('large', value)
    proxy.throttle(50_000)
    await expect(requests.get('large')).rejects.toThrow('Command timed out')
    await proxy.restore()
    await expect.poll(() => requests.get('large').catch(() => undefined)).toBe(value)
  })
})
