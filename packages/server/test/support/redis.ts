/** Redis for tests: the shared server of the test run under a new prefix, or a separate server that a test may kill. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { tally } from '../../../../scripts/tally.ts'
import type { RedisAddress, RedisConnections } from '../../src/adapters/redis/connections.ts'
import { connectRedis } from '../../src/adapters/redis/connections.ts'
import { closedPort } from './kept-port.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The Redis server for tests. Without it, suites that need one are skipped with a notice. */
export const testRedisUrl = process.env['STET_TEST_REDIS_URL'] || undefined

export function isSkippedWithoutRedis(suite: string): boolean {
  if (testRedisUrl !== undefined) return false
  console.warn(`SKIPPED, STET_TEST_REDIS_URL is not set: ${suite}`)
  return true
}

export interface TestRedis extends RedisAddress {
  /** Deletes the keys of this prefix. */
  close(): Promise<void>
}

/** A test machine under load must not count as an outage of Redis. */
export const patientMs = 5_000

/** A new prefix on the shared Redis server. */
export function testRedis(url = testRedisUrl): TestRedis {
  if (url === undefined) throw new Error('STET_TEST_REDIS_URL is not set')
  const prefix = `stet-test-${randomBytes(6).toString('hex')}`
  return { url, prefix, timeoutMs: patientMs, close: () => deleteKeys(url, prefix) }
}

async function deleteKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url)
  for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1_000 }) as AsyncIterable<string[]>) {
    if (keys.length > 0) await redis.unlink(...keys)
  }
  await redis.quit()
}

const silent = { error() {}, warn() {}, info() {}, debug() {} }

/**
 * Connects like one server. Resolves when commands are accepted. When the test ends, the connections close and the keys
 * are deleted from the shared server.
 */
export async function redisConnections(address: RedisAddress): Promise<RedisConnections> {
  const connections = connectRedis(address, silent)
  onTestFinished(async () => {
    await connections.close()
    if (address.url === testRedisUrl) await deleteKeys(address.url, address.prefix)
  })
  await Promise.all([connections.requests, connections.events].map(readyOf))
  return connections
}

async function readyOf(redis: Redis): Promise<void> {
  if (redis.status !== 'ready') await once(redis, 'ready')
}

export interface RedisProcess {
  url: string
  port: number
  /** Freezes the process: its connections stay open without responses. */
  pause(): void
  resume(): void
  /** Resolves when the process has ended. Everything that it stored is lost. */
  kill(): Promise<void>
  /** Starts an empty server on the same port. */
  start(): Promise<void>
  /** Deletes all keys. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Starts a separate Redis server without persistence. */
export async function redisProcess(): Promise<RedisProcess> {
  const port = await closedPort()
  const url = `redis://127.0.0.1:${port}`
  const folder = await temporaryFolder()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  let child: ChildProcess | undefined
  const start = async () => {
    tally('child process')
    child = spawn('redis-server', settings, { stdio: 'ignore' })
    const failed = once(child, 'exit').then(() => Promise.reject(new Error('redis-server ended during its start')))
    failed.catch(() => undefined)
    await Promise.race([answers(url), failed])
  }
  const kill = async () => {
    const running = child
    child = undefined
    if (!running) return
    const ended = once(running, 'exit')
    running.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    url,
    port,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    kill,
    start,
    async flush() {
      const redis = new Redis(url)
      await redis.flushall()
      await redis.quit()
    },
    close: kill,
  }
}

async function answers(url: string): Promise<void> {
  for (;;) {
    const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
    redis.on('error', () => undefined)
    try {
      await redis.connect()
      await redis.ping()
      return
    } catch {
      await delay(20)
    } finally {
      redis.disconnect()
    }
  }
}
