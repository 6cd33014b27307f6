import { describe, expect, it } from 'vitest'
import { ConfigurationError } from '../src/index.ts'
import { fillRoute, parseBaseUrl, queryString } from '../src/transport/url.ts'

const DOCUMENT = '/projects/:projectId/versions/:versionUuid/documents/:path'
const scope = { projectId: 7, versionUuid: 'live' }

describe('fillRoute', () => {
  it.each([
    ['support/reply', 'support/reply'],
    ['/support/reply', 'support/reply'],
    ['a b/ü?#%', 'a%20b/%C3%BC%3F%23%25'],
    ['a%2Fb', 'a%252Fb'],
    ['..a/b..', '..a/b..'],
  ])('encodes the path %j as %j', (path, written) => {
    expect(fillRoute(DOCUMENT, { ...scope, path })).toBe(`/projects/7/versions/live/documents/${written}`)
  })

  it.each(['', '/', '//a', 'a//b', 'a/', '.', 'a/./b', '../secrets', 'a/..', '\ud800'])(
    'refuses the path %j',
    (path) => {
      expect(() => fillRoute(DOCUMENT, { ...scope, path })).toThrow(ConfigurationError)
    },
  )

  it.each(['', '.', '..'])('rejects the segment %j for any parameter', (versionUuid) => {
    expect(() => fillRoute(DOCUMENT, { projectId: 7, versionUuid, path: 'a' })).toThrow(/versionUuid/)
  })

  it('encodes slashes in other parameters', () => {
    expect(fillRoute('/conversations/:conversationUuid', { conversationUuid: 'a/b' })).toBe('/conversations/a%2Fb')
  })

  it('rejects a missing parameter by name', () => {
    expect(() => fillRoute('/api-keys/:id', {})).toThrow('id is missing')
  })
})

describe('parseBaseUrl', () => {
  it.each([
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787/api/v3', 'http://127.0.0.1:8787'],
    ['https://example.com/', 'https://example.com/api/v3', 'https://example.com'],
    ['https://example.com/stet/', 'https://example.com/stet/api/v3', 'https://example.com/stet'],
    ['https://example.com/stet/api/v3/', 'https://example.com/stet/api/v3', 'https://example.com/stet'],
    ['https://example.com/api/v4', 'https://example.com/api/v4', 'https://example.com'],
  ])('%s', (text, baseUrl, rootUrl) => {
    expect(parseBaseUrl(text)).toEqual({ baseUrl, rootUrl })
  })

  it.each(['', 'example.com', 'ftp://example.com', 'https://user:secret@example.com'])('rejects %j', (text) => {
    expect(() => parseBaseUrl(text)).toThrow(/STET_BASE_URL/)
    expect(() => parseBaseUrl(text)).not.toThrow(/secret/)
  })

  it.each([
    ['example.com', 'example.com'],
    ['', ''],
    ['https://user:secret@example.com/stet', '***example.com/stet'],
    ['user:se@cret@example.com', '***example.com'],
    ['stet_7kQ', '***'],
  ])('the error for %j shows the value without secrets', (text, shown) => {
    const message = `baseUrl (STET_BASE_URL) must be an http address without a password, not '${shown}'`
    expect(() => parseBaseUrl(text)).toThrow(new ConfigurationError(message))
  })
})

it('omits undefined query values and encodes the rest', () => {
  expect(queryString({ prefix: 'a b&c', limit: 0, all: false, none: undefined })).toBe(
    '?prefix=a+b%26c&limit=0&all=false',
  )
  expect(queryString({ none: undefined })).toBe('')
  expect(queryString(undefined)).toBe('')
})

it('encodes the query in runtimes whose URLSearchParams have no size', () => {
  const size = Object.getOwnPropertyDescriptor(URLSearchParams.prototype, 'size') ?? {}
  Reflect.deleteProperty(URLSearchParams.prototype, 'size')
  try {
    expect(queryString({ prefix: 'a' })).toBe('?prefix=a')
  } finally {
    Object.defineProperty(URLSearchParams.prototype, 'size', size)
  }
})
