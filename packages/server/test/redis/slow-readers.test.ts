import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { startProgram } from '../support/child-program.ts'
import { logServers, providerEntry, redisUrl } from '../support/shared-logs.ts'
import type { Settings } from '../support/stalled-readers-child.ts'

const readers = 200
const eventsPerRun = 60
const eventBytes = 20_000
const megabyte = 1_000_000

interface Figures {
  /** After a garbage collection. */
  retained: number
  /** Memory in use after garbage collections if the child collects often; otherwise the size of the process. */
  now: number
  peak: number
}

it.each([
  { clients: 'never read', acceptedBytes: 1, isCollecting: false, allowedMb: 60 },
  { clients: 'stop after 200 kB', acceptedBytes: 200_000, isCollecting: true, allowedMb: 60 },
  // V8 by itself collects the data that has passed through only under memory pressure.
  { clients: 'stop after 200 kB', acceptedBytes: 200_000, isCollecting: false, allowedMb: 200 },
])(
  'promise 9: 200 clients that $clients hold no memory for events of runs on another server (collecting: $isCollecting)',
  async ({ acceptedBytes, isCollecting, allowedMb }) => {
    const bench = await logServers({ urls: [redisUrl] })
    onTestFinished(() => bench.close())
    const [owner] = bench.servers
    if (!owner) throw new Error('There is a server')
    const settings: Settings = { prefix: bench.prefix, acceptedBytes, isCollecting }
    const child = startProgram('stalled-readers-child.ts', JSON.stringify(settings))
    onTestFinished(() => void child.kill())
    await once(child, 'message')
    /** Returns the memory before the new readers come. */
    const follow = async (runs: string[]): Promise<Figures> => {
      const answer = once(child, 'message')
      child.send(runs)
      return (await answer)[0]
    }

    const text = 'x'.repeat(eventBytes)
    const runs = Array.from({ length: readers }, () => randomUUID())
    // Half of the readers come before the events, half of them after.
    const early = runs.slice(0, readers / 2)
    const late = runs.slice(readers / 2)
    const followed = new Set<string>()
    const writers = runs.map((runUuid) => owner.log.open(runUuid, () => followed.add(runUuid)))
    const before = await follow(early)
    await expect.poll(() => followed.size).toBe(early.length)
    for (let id = 1; id <= eventsPerRun; id += 1) {
      for (const writer of writers) writer.append([], [providerEntry(id, text)])
      await turn()
    }
    await follow(late)
    const lengths = () =>
      Promise.all(runs.map((runUuid) => owner.connections.events.xlen(`${bench.prefix}:events:${runUuid}`)))
    await expect.poll(async () => Math.min(...(await lengths())), { timeout: 60_000 }).toBe(eventsPerRun)
    const after = await follow([])
    const retainedMb = (after.retained - before.retained) / megabyte
    const peakMb = (after.peak - before.now) / megabyte
    console.info(`slow readers: ${JSON.stringify({ acceptedBytes, isCollecting, retainedMb, peakMb })}`)
    expect(retainedMb).toBeLessThan(40)
    expect(peakMb).toBeLessThan(allowedMb)
  },
  120_000,
)
