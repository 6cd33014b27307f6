import { describe, expect, it } from 'vitest'
import { encodeDocumentPathTail } from './address.ts'

const base = '/projects/1/versions/live/documents'

describe('encodeDocumentPathTail', () => {
  it.each([
    ['GET', '/a/b/c', '/a%2Fb%2Fc'],
    ['GET', '/a%2Fb%2Fc', '/a%2Fb%2Fc'],
    ['GET', '/a%20b', '/a%20b'],
    ['GET', '//a', '/a'],
    ['GET', '/a/', '/a'],
    ['GET', '/a//', '/a%2F%2F'],
    ['GET', '/', ''],
    ['GET', '', ''],
    ['POST', '/', ''],
    ['GET', '/%2Fa?x=1', '/a?x=1'],
    ['GET', '/e%CC%81', '/%C3%A9'],
    ['GET', '/run', '/run'],
    ['DELETE', '/logs', '/logs'],
    ['POST', '/run', '/run'],
    ['POST', '/get-or-create', '/get-or-create'],
    ['POST', '/check', '/check'],
    ['POST', '/a/run', '/a%2Frun'],
    ['GET', '/../x', '/..%2Fx'],
    ['GET', '/?prefix=a', '?prefix=a'],
  ])('%s %s', (method, tail, expected) => {
    expect(encodeDocumentPathTail(method, base + tail)).toBe(base + expected)
  })

  it.each(['/a%', '/%ff', '/%C3', '/a%00b'])('throws for %s', (tail) => {
    expect(() => encodeDocumentPathTail('GET', base + tail)).toThrow(
      expect.objectContaining({ reason: 'malformed-path' }),
    )
  })

  it('leaves other addresses unchanged', () => {
    expect(encodeDocumentPathTail('GET', '/projects/1/versions/x%')).toBe('/projects/1/versions/x%')
  })
})
