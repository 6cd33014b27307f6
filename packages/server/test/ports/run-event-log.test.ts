import { expect, it } from 'vitest'
import { createRunEventLog } from '../../src/adapters/in-process/run-event-log.ts'
import { describeRunEventLog } from './run-event-log.contract.ts'

describeRunEventLog('in process', createRunEventLog)

it('a large log goes at its end, but not under its readers', async () => {
  const log = createRunEventLog()
  const writer = log.open('run', () => {})
  const reader = log.follow('run', 0)
  writer.append([], [{ id: 1, pieces: 'x'.repeat(100_000) }])
  writer.close()
  expect(log.follow('run', 0)).toBeUndefined()
  expect(reader?.take(10)).toHaveLength(1)
  expect(reader?.isAtEnd()).toBe(true)
})
