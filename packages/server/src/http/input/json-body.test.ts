import { describe, expect, it } from 'vitest'
import { parseJsonBody } from './json-body.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('parseJsonBody', () => {
  it.each([undefined, '', 'application/json', 'Application/JSON; charset=UTF-8', 'application/vnd.x+json'])(
    'reads JSON as %s',
    (type) => {
      expect(parseJsonBody(bytes('{"a":1}'), type)).toEqual({ a: 1 })
    },
  )

  it('takes an empty body of any type for an empty object', () => {
    expect(parseJsonBody(bytes(''), 'text/plain')).toEqual({})
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json; charset=latin1',
    'json',
  ])('refuses %s', (type) => {
    expect(() => parseJsonBody(bytes('{}'), type)).toThrow('Content-Type')
  })

  it('lets the last of equal keys win', () => {
    expect(parseJsonBody(bytes('{"a":1,"a":2}'), undefined)).toEqual({ a: 2 })
  })

  it.each(['{', 'undefined', "{'a':1}", '{"a":1}x', '\u00a0{}'])('refuses malformed JSON: %s', (text) => {
    expect(() => parseJsonBody(bytes(text), undefined)).toThrow('Malformed JSON in request body')
  })

  it('refuses bytes that are not UTF-8', () => {
    const overlong = Uint8Array.of(0x22, 0xc0, 0x80, 0x22)
    expect(() => parseJsonBody(overlong, undefined)).toThrow('Malformed JSON in request body')
  })

  it('says where a refused value stands', () => {
    expect(() => parseJsonBody(bytes('{"messages":[{"content":"\\u0000"}]}'), undefined)).toThrow(
      'Invalid request: messages.0.content: must not contain NUL characters',
    )
  })
})
