/** The contract of every event log: readers get history, then live events, without gaps or duplicates. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogEntry, RunEventLog, RunLogReader } from '../../src/features/runs/ports.ts'

const entry = (id: number): LogEntry => ({ id, pieces: `frame ${id}` })

async function readToEnd(reader: RunLogReader, limit: number): Promise<number[]> {
  const ids: number[] = []
  while (!reader.isAtEnd()) {
    const entries = reader.take(limit)
    ids.push(...entries.map(({ id }) => id))
    if (entries.length === 0) await reader.changed()
  }
  reader.release()
  return ids
}

export function describeRunEventLog(name: string, create: () => RunEventLog): void {
  describe(`event log: ${name}`, () => {
    it('promise 6: readers that attach anywhere, at any time, get every later event once and in order', async () => {
      const action = fc.oneof(
        fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 0, max: 5 }) }),
        fc.record({
          kind: fc.constant('follow' as const),
          after: fc.integer({ min: 0, max: 40 }),
          limit: fc.integer({ min: 1, max: 4 }),
        }),
        fc.record({ kind: fc.constant('yield' as const) }),
      )
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 20 }),
          fc.array(action, { maxLength: 40 }),
          async (first, actions) => {
            const log = create()
            const writer = log.open('run', () => {})
            let next = first
            const readings: { after: number; ids: Promise<number[]> }[] = []
            for (const step of actions) {
              if (step.kind === 'append') {
                writer.append(
                  [],
                  Array.from({ length: step.count }, (_, index) => entry(next + index)),
                )
                next += step.count
              } else if (step.kind === 'follow') {
                const after = Math.min(step.after, next - 1)
                const reader = log.follow('run', after)
                if (reader) readings.push({ after, ids: readToEnd(reader, step.limit) })
              } else await new Promise((resolve) => setImmediate(resolve))
            }
            writer.close()
            for (const { after, ids } of readings) {
              const expected = Array.from({ length: next - first }, (_, index) => first + index).filter(
                (id) => id > after,
              )
              expect(await ids).toEqual(expected)
            }
          },
        ),
        { numRuns: 200 },
      )
    })

    it('reports the number of readers', () => {
      const counts: number[] = []
      const log = create()
      log.open('run', (count) => counts.push(count))
      const one = log.follow('run', 0)
      const two = log.follow('run', 0)
      one?.release()
      one?.release()
      expect(log.readerCount()).toBe(1)
      two?.release()
      expect(counts).toEqual([1, 2, 1, 0])
      expect(log.readerCount()).toBe(0)
    })

    it('stops reporting readers once the run has ended', () => {
      const log = create()
      const counts: number[] = []
      const writer = log.open('run', (count) => counts.push(count))
      const reader = log.follow('run', 0)
      writer.append([], [entry(1)])
      writer.close()
      reader?.release()
      log.follow('run', 0)?.release()
      expect(counts).toEqual([1])
    })

    it('resolves a waiting reader when it is released', async () => {
      const log = create()
      log.open('run', () => {})
      const reader = log.follow('run', 0)
      const waiting = reader?.changed()
      reader?.release()
      await waiting
    })

    it('replays an ended event log to late readers; an unknown one does not exist', async () => {
      const log = create()
      const writer = log.open('run', () => {})
      writer.append(['{}'], [entry(5), entry(6)])
      writer.close()
      const reader = log.follow('run', 5)
      expect(reader?.messages).toEqual(['{}'])
      expect(reader && (await readToEnd(reader, 10))).toEqual([6])
      expect(log.follow('other', 0)).toBeUndefined()
    })
  })
}
