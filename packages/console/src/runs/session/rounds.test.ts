import type { Message } from '@stet/sdk'
import { expect, test } from 'vitest'
import { answerText } from '../follow-run.ts'
import { type RecordedRun, storedRounds } from './rounds.ts'

const message = (role: string, text: string) => ({ role, content: [{ type: 'text', text }] }) as Message
const [system, ask] = [message('system', 'Be brief'), message('user', 'Hello')]
const answers = ['One', 'Two', 'Three'].map((text) => message('assistant', text))
const [one, two, three] = answers as [Message, Message, Message]
const [more, again] = [message('user', 'More'), message('user', 'Again')]
const result = {
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'a', result: 1 }],
} as Message

/** Ended runs with the place and the number of the messages that each was given. An active run has none. */
const runs = (...given: ([number, number] | null)[]): RecordedRun[] =>
  given.map((range) => ({
    ...{ conversationUuid: 'c', createdAt: '2026-11-12T10:00:00Z', firstTokenMs: 1, durationMs: 2, error: null },
    status: 'completed',
    givenFrom: range?.[0] ?? null,
    givenCount: range?.[1] ?? null,
  }))

test.each<[string, RecordedRun[], Message[], [said: string | null, answer: string][]]>([
  ['one message a chat', runs(null, [3, 1]), [system, ask, one, more, two], [[null, 'One']]],
  [
    'two messages',
    runs(null, [3, 2], [6, 1]),
    [system, ask, one, more, again, two, more, three],
    [
      [null, 'One'],
      ['More\n\nAgain', 'Two'],
    ],
  ],
  [
    'none',
    runs(null, [2, 0], [3, 1]),
    [ask, one, two, more, three],
    [
      [null, 'One'],
      ['', 'Two'],
    ],
  ],
  [
    'a result alone',
    runs(null, [2, 1], [4, 1]),
    [ask, one, result, two, more, three],
    [
      [null, 'One'],
      ['', 'Two'],
    ],
  ],
  [
    'an answer of the caller',
    runs(null, [2, 3], [6, 1]),
    [ask, one, more, two, again, three, more],
    [
      [null, 'One'],
      ['More\n\nTwo\n\nAgain', 'Three'],
    ],
  ],
  [
    'an active chat',
    runs(null, [2, 1], null),
    [ask, one, more, two, again, more, three],
    [
      [null, 'One'],
      ['More', 'Two'],
    ],
  ],
  ['an example before the question', runs([2, 1], [4, 1]), [ask, three, more, one, again, two], [[null, 'One']]],
])('each round has its own messages: %s', (_, given, messages, expected) => {
  const rounds = storedRounds(given, messages)
  expect(rounds.slice(0, -1).map(({ said, view }) => [said, answerText(view)])).toEqual(expected)
  expect(rounds).toHaveLength(given.length)
})

test('the last round has its message, also while it is active', () => {
  expect(storedRounds(runs(null, null), [ask, one, more, again, two]).at(-1)?.said).toBe('More\n\nAgain')
})
