import { describe, expect, it, onTestFinished } from 'vitest'
import { createSharedRunSignals, createSharedToolSignals } from '../../src/adapters/redis/run-signals.ts'
import { createSignalChannel } from '../../src/adapters/redis/signal-channel.ts'
import { faultProxy } from '../support/fault-proxy.ts'
import { isSkippedWithoutRedis, redisConnections, redisProcess, type TestRedis, testRedis } from '../support/redis.ts'
import { describeRunSignals } from './run-signals.contract.ts'

const isSkipped = isSkippedWithoutRedis('the signals on Redis')

/** Resolves when `servers` of them are subscribed. */
async function channelOn(address: TestRedis, servers: number) {
  const channel = createSignalChannel(await redisConnections(address))
  await expect.poll(() => channel.countServers()).toBe(servers)
  return channel
}

describe.skipIf(isSkipped)('signals on Redis', () => {
  describeRunSignals('from one server to another', async () => {
    const address = testRedis()
    const owner = createSharedRunSignals(await channelOn(address, 1))
    const other = createSharedRunSignals(await channelOn(address, 2))
    return { stop: other.stop, onStop: owner.onStop }
  })

  it('stop a run of the own server without Redis', async () => {
    const redis = await redisProcess()
    onTestFinished(() => redis.close())
    const signals = createSharedRunSignals(await channelOn(testRedis(redis.url), 1))
    const heard: string[] = []
    signals.onStop('own', () => heard.push('own'))
    await redis.kill()
    signals.stop('own')
    expect(heard).toEqual(['own'])
  })

  it('wake a waiting tool call on any server, and subscribe again after a lost connection', async () => {
    const redis = await redisProcess()
    const proxy = await faultProxy(redis.port)
    onTestFinished(async () => {
      await proxy.close()
      await redis.close()
    })
    const address = testRedis(redis.url)
    const waiting = createSharedToolSignals(await channelOn({ ...address, url: `redis://127.0.0.1:${proxy.port}` }, 1))
    const channel = await channelOn(address, 2)
    const answering = createSharedToolSignals(channel)
    let woken = 0
    waiting.subscribe('call', () => {
      woken += 1
    })
    answering.notify('other')
    answering.notify('call')
    await expect.poll(() => woken).toBe(1)
    proxy.halfClose()
    await expect.poll(() => proxy.connections, { interval: 10 }).toBeGreaterThan(4)
    await expect.poll(() => channel.countServers()).toBe(2)
    const notified = () => {
      answering.notify('call')
      return woken
    }
    await expect.poll(notified).toBeGreaterThan(1)
  })
})
