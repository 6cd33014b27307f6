import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { storedReader } from '../../src/features/runs/events/stored-events.ts'
import type { LogEntry, RunLogReader, StoredLog } from '../../src/features/runs/ports.ts'
import { eventCodec } from '../../src/wire/event-log-format.ts'
import type { LegacyClient } from '../../src/wire/legacy-clients.ts'
import { count, seed, timeFor } from '../support/counts.ts'
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
  shortTimes,
  store,
} from '../support/shared-logs.ts'

const cases = count(60, 3_000)

let bench: LogServers
beforeAll(async () => {
  bench = await logServers({ urls: [redisUrl, redisUrl], times: shortTimes })
})
afterAll(() => bench.close())

const client = fc.constantFrom(undefined, { readsBackgroundStreams: false })
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('append' as const), sizes: fc.array(fc.nat(3), { maxLength: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('say' as const), length: fc.nat(40_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('follow' as const), isHere: fc.boolean(), after: fc.nat(60), client }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crowd' as const), readers: fc.constant(100) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('turns' as const), turns: fc.nat(200) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush' as const) }) },
)

const plan = fc.record({
  first: fc.integer({ min: 1, max: 30 }),
  isQueued: fc.boolean(),
  actions: fc.array(action, { maxLength: 30 }),
  end: fc.constantFrom('shown' as const, 'flushed' as const, 'reaped' as const),
})

/** Texts of an event: small, as large as several small batches, as large as a batch, and larger. */
const textSizes = [5, 5_000, 33_000, 150_000]

interface Reading {
  isHere: boolean
  after: number
  client: LegacyClient | undefined
  text: Promise<string>
}

async function play({ first, isQueued, actions, end }: typeof plan extends fc.Arbitrary<infer P> ? P : never) {
  const [owner, follower] = bench.servers as [LogServer, LogServer]
  const runUuid = randomUUID()
  const stored = activeRun()
  const elsewhere = (after: number): RunLogReader => {
    const reader = follower.log.followElsewhere?.(runUuid, after, stored.find)
    if (!reader) throw new Error('Every run can be followed')
    return reader
  }
  const readings: Reading[] = []
  const read = (reader: RunLogReader, after: number, as?: LegacyClient, isHere = false) =>
    readings.push({ isHere, after, client: as, text: readAll(reader, as) })
  if (isQueued) read(elsewhere(0), 0)
  const writer = owner.log.open(runUuid, () => {}, isQueued)
  let next = first
  const append = (entries: LogEntry[]) => {
    next += entries.length
    writer.append([], entries)
  }
  for (const step of actions) {
    if (step.kind === 'append')
      append(step.sizes.map((size, place) => providerEntry(next + place, 'ä'.repeat(textSizes[size] ?? 0))))
    else if (step.kind === 'say') {
      const message = {
        role: 'developer' as const,
        content: [{ type: 'text' as const, text: 'm'.repeat(step.length) }],
      }
      writer.append([eventCodec.encodeMessage(message)], [])
      append([latitudeEntry(next, 'step-completed', writer.messages.length)])
    } else if (step.kind === 'follow') {
      const after = Math.min(step.after, next - 1)
      const reader = step.isHere ? owner.log.follow(runUuid, after) : elsewhere(after)
      if (reader) read(reader, after, step.client, step.isHere)
    } else if (step.kind === 'crowd') {
      for (let reader = 0; reader < step.readers; reader += 1) read(elsewhere(reader % next), reader % next)
    } else if (step.kind === 'turns') for (let passed = 0; passed < step.turns; passed += 1) await turn()
    else if (step.kind === 'leave') elsewhere(0).release()
    else await bench.flush()
  }
  const isReaped = end === 'reaped'
  const terminal = latitudeEntry(isReaped ? next + 1_000_000 : next, 'chain-completed', writer.messages.length)
  const shown = [...writer.entries]
  await store(stored, isReaped ? { ...writer, entries: [] } : writer, [terminal])
  if (!isReaped) writer.append([], [terminal])
  writer.close()
  if (isReaped) owner.log.drop(runUuid)
  if (end === 'flushed') await bench.flush()
  return { readings, shown, stored: stored.found as StoredLog, terminal: terminal.id, isReaped }
}

it(
  'promise 6: readers on any server get every event once, in order, with the same bytes, whatever Redis loses',
  async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (each) => {
        const { readings, shown, stored, terminal, isReaped } = await play(each)
        for (const { isHere, after, client: as, text } of readings) {
          const got = await text
          const ids = idsIn(got)
          if (!isReaped) {
            const expected = await readAll(storedReader(eventCodec, stored, after), as)
            if (got !== expected) expect(ids).toEqual(idsIn(expected))
            expect(got === expected).toBe(true)
            continue
          }
          // Readers of the owner end without a terminal event, and readers elsewhere get it from the database.
          const events = ids.filter((id) => id !== terminal)
          const live = shown.filter(({ id }) => id > after).map(({ id }) => id)
          expect(events).toEqual(live.slice(0, events.length))
          expect(ids.indexOf(terminal)).toBe(isHere ? -1 : ids.length - 1)
        }
      }),
      { numRuns: cases, seed },
    )
  },
  timeFor(cases, 2_000),
)
