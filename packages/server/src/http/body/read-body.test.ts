import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { discardBody, readJsonBody } from './read-body.ts'

function read(body: string | Uint8Array, type: string | undefined): Promise<unknown> {
  const bytes = Buffer.from(body)
  const parts: Buffer[] = []
  for (let start = 0; start < bytes.length; start += 16_384) parts.push(bytes.subarray(start, start + 16_384))
  const headers = type === undefined ? {} : { 'content-type': type }
  return readJsonBody(Object.assign(Readable.from(parts), { headers }) as unknown as IncomingMessage, 4_194_304)
}

describe('readJsonBody', () => {
  it.each([undefined, '', 'application/json', 'Application/JSON; charset=UTF-8', 'application/vnd.x+json'])(
    'reads JSON as %s',
    async (type) => {
      expect(await read('{"a":1}', type)).toEqual({ a: 1 })
    },
  )

  it('reads an empty body of any type as an empty object', async () => {
    expect(await read('', 'text/plain')).toEqual({})
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json; charset=latin1',
    'json',
  ])('refuses %s', async (type) => {
    await expect(read('{}', type)).rejects.toMatchObject({ reason: 'unsupported-content-type' })
  })

  it('keeps the last of duplicate keys', async () => {
    expect(await read('{"a":1,"a":2}', undefined)).toEqual({ a: 2 })
  })

  it.each(['{', 'undefined', "{'a':1}", '{"a":1}x', '\u00a0{}'])('refuses malformed JSON: %s', async (text) => {
    await expect(read(text, undefined)).rejects.toMatchObject({ reason: 'malformed-json' })
  })

  it('refuses invalid UTF-8', async () => {
    const overlong = Uint8Array.of(0x22, 0xc0, 0x80, 0x22)
    await expect(read(overlong, undefined)).rejects.toMatchObject({ reason: 'malformed-json' })
  })

  it('includes the path of a refused value', async () => {
    await expect(read('{"messages":[{"content":"\\u0000"}]}', undefined)).rejects.toThrow(
      'Invalid request: messages[0].content: must not contain NUL characters',
    )
  })

  it.each([
    ['values', `{"a":[${'1,'.repeat(2_000_000)}`],
    ['nested', `{"a":${'['.repeat(1_000)}${'1,'.repeat(2_000_000)}`],
  ])('refuses a body with too many %s before it has fully arrived', async (words, text) => {
    let received = 0
    const parts = (function* () {
      for (let start = 0; start < text.length; start += 65_536) {
        received += 65_536
        yield Buffer.from(text.slice(start, start + 65_536))
      }
    })()
    const req = Object.assign(Readable.from(parts, { highWaterMark: 1 }), { headers: {} }) as unknown as IncomingMessage
    await expect(readJsonBody(req, 8_000_000)).rejects.toThrow(words)
    expect(received).toBeLessThan(300_000)
  })

  it('refuses too many distinct keys, for any chunk length', async () => {
    const keys = Array.from({ length: 5_001 }, (_, place) => `"key-${place}":1`).join(',')
    await expect(read(`{${keys}}`, undefined)).rejects.toThrow('different keys')
  })
})

describe('discardBody', () => {
  it('reads one part of all refused bodies per pause', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const [bodies, parts, length] = [4, 10, 65_536]
    const received = Array.from({ length: bodies }, () => 0)
    const discarded = received.map((_, place) => {
      const body = Readable.from(
        Array.from({ length: parts }, () => Buffer.alloc(length)),
        { highWaterMark: 1 },
      )
      body.on('data', () => {
        received[place] = (received[place] ?? 0) + 1
      })
      return discardBody(body)
    })
    const settle = async () => {
      for (let turn = 0; turn < 10; turn += 1) await nextTurn()
      return received.reduce((sum, count) => sum + count)
    }
    // The first 64 KB of a body do not wait, so that a small one never does.
    const free = 2 * bodies
    expect(await settle()).toBe(free)
    for (let pause = 1; pause <= bodies; pause += 1) {
      vi.advanceTimersByTime(5)
      expect(await settle()).toBe(free + pause)
    }
    expect(new Set(received)).toEqual(new Set([3]))
    for (let pause = 0; pause < bodies * parts; pause += 1) {
      vi.advanceTimersByTime(5)
      await settle()
    }
    await Promise.all(discarded)
  })
})
