import { describe, expect, it } from 'vitest'
import { isLoopback, permitMetrics } from './operations.ts'

describe('permitMetrics', () => {
  it('allows only loopback if no token is configured', () => {
    expect(() => permitMetrics(undefined, undefined, true)).not.toThrow()
    expect(() => permitMetrics(undefined, 'anything', false)).toThrow(
      expect.objectContaining({ reason: 'metrics-loopback-only' }),
    )
  })

  it('requires the token if one is configured', () => {
    expect(() => permitMetrics('secret', undefined, true)).toThrow(expect.objectContaining({ reason: 'no-key' }))
    expect(() => permitMetrics('secret', 'wrong', true)).toThrow(
      expect.objectContaining({ reason: 'wrong-metrics-token' }),
    )
    expect(() => permitMetrics('secret', 'secret', false)).not.toThrow()
  })

  it.each([
    ['127.0.0.1', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['1127.0.0.1', false],
    [undefined, false],
  ])('isLoopback %s', (address, expected) => {
    expect(isLoopback(address)).toBe(expected)
  })
})
