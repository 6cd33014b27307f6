import { describe, expect, it } from 'vitest'
import { isForwarded, isLoopback, permitMetrics } from './operations.ts'

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

describe('isForwarded', () => {
  const direct = { host: '127.0.0.1:3000', 'user-agent': 'curl/8.5.0', accept: '*/*' }

  it.each([
    ['curl', direct],
    ['a name', { ...direct, host: 'localhost' }],
    ['IPv6', { ...direct, host: '[::1]:3000' }],
    ['Prometheus', { ...direct, 'x-prometheus-scrape-timeout-seconds': '10', 'accept-encoding': 'gzip' }],
  ])('is false for a direct request: %s', (_, headers) => {
    expect(isForwarded({ headers, httpVersion: '1.1' })).toBe(false)
  })

  it.each([
    ...['forwarded', 'via', 'x-forwarded', 'x-forwarded-for', 'x_forwarded_for', 'x-real-ip', 'client-ip', 'cdn-loop'],
    ...['x-amzn-trace-id', 'x-arr-log-id', 'x-azure-clientip', 'x-appengine-user-ip', 'x-nf-client-connection-ip'],
    ...['cf-connecting-ip', 'true-client-ip', 'do-connecting-ip', 'akamai-origin-hop', 'proxy-connection'],
  ])('is true with the header %s', (header) => {
    expect(isForwarded({ headers: { ...direct, [header]: '1.1 proxy' }, httpVersion: '1.1' })).toBe(true)
  })

  it('is true for the host of a client, and for the HTTP version of a proxy', () => {
    for (const host of ['stet.example.com', '192.0.2.1:3000', '127.0.0.1.example.com', undefined]) {
      expect(isForwarded({ headers: { ...direct, host }, httpVersion: '1.1' })).toBe(true)
    }
    expect(isForwarded({ headers: direct, httpVersion: '1.0' })).toBe(true)
  })
})
