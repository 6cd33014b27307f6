import { describe, expect, it } from 'vitest'
import { legacyClient } from './legacy-clients.ts'

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
