import { describe, expect, it, onTestFinished } from 'vitest'
import { createSharedLiveCache } from '../../src/adapters/redis/live-cache.ts'
import { faultProxy } from '../support/fault-proxy.ts'
import { isSkippedWithoutRedis, redisConnections, redisProcess, type TestRedis, testRedis } from '../support/redis.ts'
import { liveCacheContract } from './live-cache.contract.ts'

const isSkipped = isSkippedWithoutRedis('the live cache on Redis')

async function serversOn(address: TestRedis) {
  const [one, other] = await Promise.all([1, 2].map(async () => createSharedLiveCache(await redisConnections(address))))
  if (!one || !other) throw new Error('There are two servers')
  return { one, other }
}

/** Reads a value after a sync, like a request. `loads` counts how often the cache had no value. */
function reader(cache: Awaited<ReturnType<typeof serversOn>>['one']) {
  let loads = 0
  return {
    loads: () => loads,
    async read(scope = 's') {
      await cache.sync()
      await cache.read(scope, 'k', async () => {
        loads += 1
        return loads
      })
    },
  }
}

describe.skipIf(isSkipped)('live cache on Redis', () => {
  liveCacheContract(async () => createSharedLiveCache(await redisConnections(testRedis())))

  it('promise 18: a read that begins after a drop on another server sees the write', async () => {
    const { one, other } = await serversOn(testRedis())
    const { read, loads } = reader(other)
    await read()
    await read('t')
    expect(loads()).toBe(2)
    for (let write = 1; write <= 50; write += 1) {
      await one.drop('s')
      await Promise.all([read(), read(), read('t')])
      expect(loads()).toBe(2 + write)
    }
  })

  it('clears the cache after more drops than the drop log holds, and after a flush', async () => {
    const redis = await redisProcess()
    onTestFinished(() => redis.close())
    const { one, other } = await serversOn(testRedis(redis.url))
    const { read, loads } = reader(other)
    await read()
    await read()
    expect(loads()).toBe(1)
    await Promise.all(Array.from({ length: 12_000 }, () => one.drop('other')))
    await read()
    expect(loads()).toBe(2)
    await redis.flush()
    await read()
    expect(loads()).toBe(3)
    await read()
    expect(loads()).toBe(3)
  })

  it('reads again every 5 s while Redis is unavailable', async () => {
    const redis = await redisProcess()
    onTestFinished(() => redis.close())
    const { one, other } = await serversOn(testRedis(redis.url))
    const { read, loads } = reader(other)
    await read()
    await redis.kill()
    await one.drop('s')
    await read()
    const before = loads()
    const reread = async () => {
      await read()
      return loads()
    }
    await expect.poll(reread).toBe(before + 1)
    await redis.start()
    const seesDrops = async () => {
      await one.drop('s')
      const known = loads()
      return (await reread()) > known
    }
    await expect.poll(seesDrops).toBe(true)
  })

  it('sends the drops of a server that had lost its connection', async () => {
    const redis = await redisProcess()
    const proxy = await faultProxy(redis.port)
    onTestFinished(async () => {
      await proxy.close()
      await redis.close()
    })
    const address = testRedis(redis.url)
    const connections = await redisConnections({ ...address, url: `redis://127.0.0.1:${proxy.port}` })
    const lost = createSharedLiveCache(connections)
    const other = createSharedLiveCache(await redisConnections(address))
    const { read, loads } = reader(other)
    await read()
    await proxy.cut()
    await expect.poll(() => connections.requests.status).not.toBe('ready')
    await lost.drop('s')
    await read()
    expect(loads()).toBe(1)
    await proxy.restore()
    const seesDrop = async () => {
      await lost.sync()
      await read()
      return loads()
    }
    await expect.poll(seesDrop).toBe(2)
  })
})
