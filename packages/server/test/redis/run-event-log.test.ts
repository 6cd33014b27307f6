import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createSharedRunEventLog } from '../../src/adapters/redis/event-log/run-event-log.ts'
import type { RunLogReader, RunLogWriter } from '../../src/features/runs/ports.ts'
import { eventCodec } from '../../src/wire/event-log-format.ts'
import { describeRunEventLog } from '../ports/run-event-log.contract.ts'
import { faultProxy } from '../support/fault-proxy.ts'
import { startHeardTime } from '../support/heard-time.ts'
import {
  activeRun,
  idsIn,
  type LogServer,
  type LogServers,
  latitudeEntry,
  logServers,
  providerEntry,
  readAll,
  redisUrl,
  type StoredEnd,
  shortTimes,
  store,
} from '../support/shared-logs.ts'

let bench: LogServers
let owner: LogServer
let follower: LogServer

beforeAll(async () => {
  bench = await logServers({ urls: [redisUrl, redisUrl], times: shortTimes })
  const [first, second] = bench.servers
  if (!first || !second) throw new Error('There are two servers')
  owner = first
  follower = second
})
afterAll(() => bench.close())

describeRunEventLog('shared through Redis', () => {
  const { connections, channel } = owner
  return createSharedRunEventLog({ connections, channel, codec: eventCodec, maxBytes: 1_000_000 })
})

const streamsOf = (runUuid: string) => owner.connections.events.exists(`${bench.prefix}:events:${runUuid}`)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, place) => from + place)

function follow(runUuid: string, afterId: number, stored = activeRun(), server = follower): RunLogReader {
  const reader = server.log.followElsewhere?.(runUuid, afterId, stored.find)
  if (!reader) throw new Error('Every run can be followed')
  return reader
}

/** Ends a run as its owner does: the end is stored before readers see it. */
async function end(writer: RunLogWriter, id: number, stored: StoredEnd): Promise<void> {
  const terminal = latitudeEntry(id, 'chain-completed', 0)
  await store(stored, writer, [terminal])
  writer.append([], [terminal])
  writer.close()
}

/** A run on the owner with the number of its readers. */
function openRun() {
  const runUuid = randomUUID()
  const readers: number[] = []
  const open = () => owner.log.open(runUuid, (count) => readers.push(count))
  return { runUuid, readers, open }
}

it('sends nothing to Redis while no other server follows the run', async () => {
  const { runUuid, open } = openRun()
  const signalled: string[] = []
  for (const kind of ['stop', 'tool', 'follow', 'present', 'opened'] as const)
    follower.channel.on(kind, (id) => signalled.push(id))
  const writer = open()
  writer.append(
    [],
    range(1, 100).map((id) => providerEntry(id)),
  )
  for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  writer.close()
  // Signals arrive in order, so all earlier ones have arrived before this one.
  const last = randomUUID()
  owner.channel.publish('tool', last)
  await expect.poll(() => signalled.includes(last)).toBe(true)
  expect(signalled).not.toContain(runUuid)
  expect(await owner.connections.events.keys(`${bench.prefix}:*${runUuid}*`)).toEqual([])
})

it('counts all readers of other servers as one, and stops publishing when none signals', async () => {
  const slow = await logServers({
    urls: [redisUrl, redisUrl],
    times: { signalMs: 100, unheardMs: 400, watchMs: 100 },
  })
  onTestFinished(() => slow.close())
  const [here, there] = slow.servers
  if (!here || !there) throw new Error('There are two servers')
  const runUuid = randomUUID()
  const counts: number[] = []
  const writer = here.log.open(runUuid, (count) => counts.push(count))
  const published = () => here.connections.events.xlen(`${slow.prefix}:events:${runUuid}`)
  const one = follow(runUuid, 0, activeRun(), there)
  const two = follow(runUuid, 0, activeRun(), there)
  writer.append([], [providerEntry(1)])
  await expect.poll(() => counts).toEqual([1])
  await expect.poll(published).toBe(1)
  one.release()
  two.release()
  await expect.poll(() => counts.at(-1)).toBe(0)
  writer.append([], [providerEntry(2)])
  expect(await published()).toBe(1)
  const stored = activeRun()
  const later = follow(runUuid, 0, stored, there)
  await expect.poll(() => counts.at(-1)).toBeGreaterThan(0)
  await expect.poll(published).toBe(2)
  await end(writer, 3, stored)
  expect(idsIn(await readAll(later))).toEqual([1, 2, 3])
  await expect.poll(published).toBe(0)
})

it('learns of each batch and of the end without looking', async () => {
  const never = 600_000
  const times = { signalMs: never, unheardMs: never, watchMs: never }
  const patient = await logServers({ urls: [redisUrl, redisUrl], times })
  onTestFinished(() => patient.close())
  const [here, there] = patient.servers
  if (!here || !there) throw new Error('There are two servers')
  const runUuid = randomUUID()
  const stored = activeRun()
  const events = follow(runUuid, 0, stored, there)
  const onlyEnd = follow(runUuid, Number.MAX_SAFE_INTEGER, stored, there)
  // The run was queued, so its readers were there before.
  const counts: number[] = []
  const writer = here.log.open(runUuid, (count) => counts.push(count), true)
  await expect.poll(() => counts).toEqual([1])
  for (const id of [1, 2, 3]) {
    writer.append([], [providerEntry(id)])
    while (events.take(1).length === 0) await events.changed()
  }
  await end(writer, 4, stored)
  expect(idsIn(await readAll(events))).toEqual([4])
  while (!onlyEnd.isAtEnd()) await onlyEnd.changed()
})

it('keeps a run alive for readers that only wait for its end, and publishes no events for them', async () => {
  const { runUuid, readers, open } = openRun()
  const writer = open()
  writer.append([], [providerEntry(1)])
  const stored = activeRun()
  const reader = follow(runUuid, Number.MAX_SAFE_INTEGER, stored)
  await expect.poll(() => readers).toEqual([1])
  await expect.poll(() => stored.looks).toBeGreaterThan(1)
  expect(reader.isAtEnd()).toBe(false)
  await store(stored, writer, [latitudeEntry(2, 'chain-completed', 0)])
  await reader.changed()
  expect(reader.isAtEnd()).toBe(true)
  expect(reader.take(10)).toEqual([])
  expect(await streamsOf(runUuid)).toBe(0)
  writer.close()
})

it('ends the readers of a run that was never opened, and of a deleted one', async () => {
  const stored = activeRun()
  const texts = [readAll(follow(randomUUID(), 0, stored)), readAll(follow(randomUUID(), 5, stored))]
  const waiting = follow(randomUUID(), Number.MAX_SAFE_INTEGER, stored)
  await expect.poll(() => stored.looks).toBeGreaterThan(3)
  stored.found = 'deleted'
  expect(await Promise.all(texts)).toEqual(['', ''])
  while (!waiting.isAtEnd()) await waiting.changed()
})

it('deletes the events of a run from Redis and from the memory of its owner', async () => {
  const { runUuid, open } = openRun()
  const stored = activeRun()
  const writer = open()
  const reader = follow(runUuid, 0, stored)
  writer.append([], [providerEntry(1)])
  await expect.poll(() => streamsOf(runUuid)).toBe(1)
  writer.close()
  await expect.poll(() => streamsOf(runUuid)).toBe(0)
  // As an owner leaves it that was killed.
  await owner.connections.events.xadd(`${bench.prefix}:events:${runUuid}`, '1-0', 'batch', '{}')
  stored.found = 'deleted'
  follower.log.drop(runUuid)
  await readAll(reader)
  await expect.poll(() => streamsOf(runUuid)).toBe(0)
  // By itself, the owner forgets them after a minute.
  await expect.poll(() => owner.log.follow(runUuid, 0), { timeout: 30_000 }).toBeUndefined()
})

it('writes a stream again that has lost batches', async () => {
  const { runUuid, open } = openRun()
  const writer = open()
  const key = `${bench.prefix}:events:${runUuid}`
  const { events } = owner.connections
  const early = follow(runUuid, 0)
  for (const id of [1, 2, 3]) {
    writer.append([], [providerEntry(id)])
    await expect.poll(() => events.xlen(key)).toBe(id)
  }
  // As a replica that takes over may lack it.
  expect(await events.xdel(key, '2-0')).toBe(1)
  const late = follow(runUuid, 0)
  const ids: number[] = []
  await expect.poll(() => ids.push(...late.take(10).map(({ id }) => id)) && ids).toEqual([1, 2, 3])
  writer.append([], [providerEntry(4)])
  await expect.poll(() => early.take(10).at(-1)?.id).toBe(4)
  await expect.poll(() => late.take(10).at(-1)?.id).toBe(4)
  for (const reader of [early, late]) reader.release()
  writer.close()
})

const message = (size: number) => JSON.stringify({ role: 'user', text: 'm'.repeat(size) })

it('a reader goes on when a lost stream is written again with other ends of batches', async () => {
  const { runUuid, open } = openRun()
  const writer = open()
  const reader = follow(runUuid, 0)
  const ids: number[] = []
  writer.append([message(500)], [])
  // More than one batch, so that the message below moves the ends of the batches.
  for (const id of range(1, 5)) writer.append([], [providerEntry(id, 'y'.repeat(10_000))])
  await expect.poll(() => ids.push(...reader.take(100).map(({ id }) => id)) && ids).toEqual(range(1, 5))
  await owner.connections.events.unlink(`${bench.prefix}:events:${runUuid}`)
  // The first event after the loss makes the owner notice it; the second one, the gap that the reader has found.
  let last = 6
  writer.append([message(10)], [providerEntry(last)])
  const takeAndAppend = () => {
    ids.push(...reader.take(100).map(({ id }) => id))
    if (ids.length < last || last === 8) return ids
    last += 1
    writer.append([], [providerEntry(last)])
    return ids
  }
  await expect.poll(takeAndAppend).toEqual(range(1, 8))
  reader.release()
  writer.close()
})

it('a batch whose answer was lost is sent again unchanged, although the log has grown', async () => {
  const { runUuid, open } = openRun()
  const writer = open()
  const reader = follow(runUuid, 0)
  const ids: number[] = []
  writer.append([message(100)], [providerEntry(1)])
  await expect.poll(() => ids.push(...reader.take(100).map(({ id }) => id)) && ids).toEqual([1])
  const { events } = owner.connections
  const multi = events.multi.bind(events)
  let lost = 0
  events.multi = ((options: { pipeline: true }) => {
    const commands = multi(options)
    const exec = commands.exec.bind(commands)
    commands.exec = async () => {
      await exec()
      events.multi = multi as typeof events.multi
      lost += 1
      // The larger message would come first, in a batch with a smaller id.
      writer.append([message(40_000)], [providerEntry(3)])
      throw new Error('The answer is lost')
    }
    return commands
  }) as typeof events.multi
  writer.append([], [providerEntry(2)])
  await expect.poll(() => ids.push(...reader.take(100).map(({ id }) => id)) && ids).toEqual([1, 2, 3])
  expect(lost).toBe(1)
  expect(reader.messages).toHaveLength(2)
  reader.release()
  writer.close()
})

it('a reader that was behind when the end was announced finds it at once', async () => {
  const times = { ...shortTimes, watchMs: 600_000 }
  const both = await logServers({ urls: [redisUrl, redisUrl], times })
  const [here, there] = both.servers as [LogServer, LogServer]
  const runUuid = randomUUID()
  const stored = activeRun()
  const writer = here.log.open(runUuid, () => {})
  const reader = follow(runUuid, 0, stored, there)
  writer.append([], [providerEntry(1)])
  await reader.changed()
  const heard = new Promise<void>((resolve) => {
    there.channel.listen(`${both.prefix}:events:${runUuid}`, {
      onMessage: (notice) => notice === 'ended' && resolve(),
      onListening() {},
    })
  })
  await end(writer, 2, stored)
  await heard
  expect(idsIn(await readAll(reader))).toEqual([1, 2])
  await both.close()
})

it('readers on other servers count while Redis is away', async () => {
  const proxy = await faultProxy(Number(new URL(redisUrl).port))
  onTestFinished(() => proxy.close())
  const url = `redis://127.0.0.1:${proxy.port}`
  const both = await logServers({ urls: [url, url], times: { ...shortTimes, signalMs: 100, unheardMs: 300 } })
  const [here, there] = both.servers as [LogServer, LogServer]
  const runUuid = randomUUID()
  const counts: number[] = []
  const writer = here.log.open(runUuid, (count) => counts.push(count))
  const reader = follow(runUuid, 0, activeRun(), there)
  await expect.poll(() => counts).toEqual([1])
  await proxy.cut()
  const away = startHeardTime()
  await expect.poll(() => away.passedMs()).toBeGreaterThan(1_500)
  away.stop()
  expect(counts).toEqual([1])
  await proxy.restore()
  reader.release()
  await expect.poll(() => counts.at(-1)).toBe(0)
  writer.close()
  await both.close()
})

it('resolves a waiting reader when it is released', async () => {
  for (const afterId of [0, Number.MAX_SAFE_INTEGER]) {
    const reader = follow(randomUUID(), afterId)
    const waiting = reader.changed()
    reader.release()
    reader.release()
    await waiting
  }
})

it('reports that a stalled reader waits for a tool result', async () => {
  const { runUuid, open } = openRun()
  const writer = open()
  const reader = follow(runUuid, 0)
  writer.setCallerAwaited(true)
  writer.append([], [providerEntry(1)])
  await expect.poll(() => reader.isCallerAwaited()).toBe(true)
  writer.setCallerAwaited(false)
  writer.append([], [providerEntry(2)])
  await expect.poll(() => reader.isCallerAwaited()).toBe(false)
  reader.release()
  writer.close()
})

it('continues after a time without Redis, and without it from the stored event log', async () => {
  const { port, hostname } = new URL(redisUrl)
  expect(['127.0.0.1', 'localhost']).toContain(hostname)
  let proxy = await faultProxy(Number(port))
  const url = `redis://127.0.0.1:${proxy.port}`
  for (const [place, urls] of [
    [url, redisUrl],
    [redisUrl, url],
    [url, url],
  ].entries()) {
    const both = await logServers({ urls, times: shortTimes })
    const [here, there] = both.servers
    if (!here || !there) throw new Error('There are two servers')
    const runUuid = randomUUID()
    const writer = here.log.open(runUuid, () => {})
    const stored = activeRun()
    const early = follow(runUuid, 0, stored, there)
    writer.append(
      [],
      range(1, 5).map((id) => providerEntry(id)),
    )
    const taken: number[] = []
    await expect.poll(() => taken.push(...early.take(100).map(({ id }) => id)) && taken.length).toBe(5)
    await proxy.close()
    writer.append(
      [],
      range(6, 50).map((id) => providerEntry(id)),
    )
    const late = follow(runUuid, 0, stored, there)
    const seen = new Map<RunLogReader, number[]>([
      [early, []],
      [late, []],
    ])
    const idsSeen = () =>
      [...seen].map(([reader, ids]) => ids.push(...reader.take(100).map(({ id }) => id)) && ids.at(-1))
    const isAwayUntilEnd = place === 1
    if (!isAwayUntilEnd) {
      proxy = await faultProxy(Number(port), proxy.port)
      await expect.poll(idsSeen, { timeout: 10_000 }).toEqual([50, 50])
    }
    await end(writer, 51, stored)
    const rest = await Promise.all([early, late].map((reader) => readAll(reader)))
    expect(rest.map(idsIn)).toEqual(isAwayUntilEnd ? [range(6, 51), range(1, 51)] : [[51], [51]])
    expect([...seen.values()]).toEqual(isAwayUntilEnd ? [[], []] : [range(6, 50), range(1, 50)])
    if (isAwayUntilEnd) proxy = await faultProxy(Number(port), proxy.port)
    await both.close()
  }
  await proxy.close()
})
