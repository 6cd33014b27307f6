import { once } from 'node:events'
import type { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createSharedRunSignals,
  createSharedToolSignals,
  createSignalChannel,
} from '../../src/adapters/redis/signals.ts'
import { type FaultProxy, faultProxy } from '../support/fault-proxy.ts'
import {
  isSkippedWithoutRedis,
  redisConnections,
  redisProcess,
  type TestRedis,
  testRedis,
  testRedisUrl,
} from '../support/redis.ts'
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

  /** The subscriber of a channel whose connection to Redis is the proxy. */
  async function subscriberThrough(proxy: FaultProxy) {
    const url = `redis://127.0.0.1:${proxy.port}`
    const connections = await redisConnections({ ...testRedis(), url })
    let subscriber: Redis | undefined
    const open: typeof connections.open = (options) => {
      subscriber = connections.open(options)
      return subscriber
    }
    const channel = createSignalChannel({ ...connections, open })
    let heard = 0
    channel.on('tool', () => {
      heard += 1
    })
    const heardOwn = () => {
      channel.publish('tool', 'any')
      return heard
    }
    await expect.poll(heardOwn).toBeGreaterThan(0)
    if (!subscriber) throw new Error('The channel opens its subscriber at once')
    return { connections, channel, subscriber }
  }

  it('end while they subscribe again', async () => {
    const proxy = await faultProxy(Number(new URL(testRedisUrl ?? '').port))
    onTestFinished(() => proxy.close())
    const { connections, subscriber } = await subscriberThrough(proxy)
    const rejected: unknown[] = []
    const note = (reason: unknown) => rejected.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    proxy.delay(20)
    proxy.halfClose()
    await once(subscriber, 'ready')
    // The request to subscribe has been sent, and its answer does not arrive.
    const ended = new Promise((resolve) => subscriber.once('end', resolve))
    await connections.close()
    await proxy.cut()
    await ended
    await new Promise((resolve) => setImmediate(resolve))
    expect(rejected).toEqual([])
  })

  it('connect again when Redis stays silent on an open connection', async () => {
    const proxy = await faultProxy(Number(new URL(testRedisUrl ?? '').port))
    onTestFinished(() => proxy.close())
    const { channel, subscriber } = await subscriberThrough(proxy)
    proxy.blackHole()
    const closed = new Promise((resolve) => subscriber.once('close', resolve))
    channel.countServers().catch(() => undefined)
    await closed
    await proxy.restore()
    await expect.poll(() => channel.countServers().catch(() => 0)).toBe(1)
  })
})
