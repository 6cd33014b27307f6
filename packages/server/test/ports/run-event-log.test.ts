import { expect, it } from 'vitest'
import { createRunEventLog } from '../../src/adapters/in-process/run-event-log.ts'
import { describeRunEventLog } from './run-event-log.contract.ts'

describeRunEventLog('in process', () => createRunEventLog(1_000_000))

it('evicts a large event log when its run ends, but not while it has readers', async () => {
  const log = createRunEventLog(1_000_000)
  const writer = log.open('run', () => {})
  const reader = log.follow('run', 0)
  writer.append([], [{ id: 1, pieces: 'x'.repeat(100_000) }])
  writer.close()
  expect(log.follow('run', 0)).toBeUndefined()
  expect(reader?.take(10)).toHaveLength(1)
  expect(reader?.isAtEnd()).toBe(true)
})

it('keeps the newest event logs of ended runs up to the byte limit', () => {
  const log = createRunEventLog(100_000)
  for (const run of ['first', 'second', 'third']) {
    const writer = log.open(run, () => {})
    writer.append([], [{ id: 1, pieces: 'x'.repeat(20_000) }])
    writer.close()
  }
  expect(log.follow('first', 0)).toBeUndefined()
  expect(log.follow('second', 0)?.take(10)).toHaveLength(1)
  expect(log.follow('third', 0)?.take(10)).toHaveLength(1)
})
