import { describe, expect, it } from 'vitest'
import { clientFrames, legacyClient } from './legacy-clients.ts'
import { encodeMessage } from './run-frames.ts'

describe('legacyClient', () => {
  it.each([
    [undefined, undefined],
    ['5.0.0', { readsBackgroundStreams: true }],
    ['5.1.0', { readsBackgroundStreams: true }],
    ['5.1.12-beta.3', { readsBackgroundStreams: true }],
    ['5.10.0', { readsBackgroundStreams: false }],
    ['5.2.0', { readsBackgroundStreams: false }],
    ['4.1.9', { readsBackgroundStreams: false }],
    ['15.1.0', { readsBackgroundStreams: false }],
    ['5.1', { readsBackgroundStreams: false }],
    ['v5.1.0', { readsBackgroundStreams: false }],
    ['', { readsBackgroundStreams: false }],
  ])('%s', (header, client) => {
    expect(legacyClient(header)).toEqual(client)
  })
})

describe('the frames of a legacy client', () => {
  const answer = (text: string) =>
    encodeMessage({ role: 'assistant', content: [{ type: 'text', text }], toolCalls: [] })

  it('have the messages of the log that it reads now, also after a change to the stored one', () => {
    const add = clientFrames({ readsBackgroundStreams: false })
    const shown = (messages: readonly string[]): string => {
      const into: Array<string | Buffer> = []
      add(into, { id: 1, pieces: ['{"messages":[', [0, 1], ']}'] }, messages)
      return into.join('')
    }
    const live = [answer('Hel')]
    expect(shown(live)).toContain('"Hel"')
    live.push(answer('second'))
    expect(shown(live)).toContain('"Hel"')
    expect(shown([answer('Hello')])).toContain('"Hello"')
  })
})
