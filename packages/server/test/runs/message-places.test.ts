import type { Message } from '@stet/contract/vocabulary'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { append, createRunProgress, locate } from '../../src/features/runs/events/run-progress.ts'
import { resolveSlice } from '../../src/features/runs/run.ts'
import { eventCodec } from '../../src/wire/event-log-format.ts'

const says = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

it('stores consecutive known messages as one range, and unknown messages as they are', () => {
  const [a, b, c] = [says('a'), says('b'), says('c')] as const
  const progress = createRunProgress(eventCodec, [a])
  append(progress, [b, c])
  expect(locate(progress, [a, b, c])).toEqual([[0, 3]])
  expect(locate(progress, [a, c])).toEqual([
    [0, 1],
    [2, 3],
  ])
  expect(locate(progress, [says('b'), says('x'), c])).toEqual([[1, 2], says('x'), [2, 3]])
})

it('resolves every located item to the requested message', () => {
  const message = fc.constantFrom('a', 'b', 'c', 'd').map(says)
  fc.assert(
    fc.property(fc.array(message), fc.array(message), (known, wanted) => {
      const progress = createRunProgress(eventCodec, known)
      expect(resolveSlice(locate(progress, wanted), progress.messages)).toEqual(wanted)
    }),
  )
})
