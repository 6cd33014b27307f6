import { describe, expect, it } from 'vitest'
import { clientGeneration } from './legacy-clients.ts'

describe('clientGeneration', () => {
  it.each([
    [undefined, false, false],
    ['5.0.0', true, true],
    ['5.1.0', true, true],
    ['5.1.12-beta.3', true, true],
    ['5.10.0', true, false],
    ['5.2.0', true, false],
    ['4.1.9', true, false],
    ['15.1.0', true, false],
    ['5.1', true, false],
    ['v5.1.0', true, false],
    ['', true, false],
  ])('%s', (header, declared, backgroundStreams) => {
    expect(clientGeneration(header)).toEqual({ declared, backgroundStreams })
  })
})
