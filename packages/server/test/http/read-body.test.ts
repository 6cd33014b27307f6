import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readBody } from '../../src/http/body/read-body.ts'
import { AppError } from '../../src/shared/app-error.ts'

const limit = 100_000
let server: Server
let url: string
let lastOutcome: Promise<Buffer> = Promise.resolve(Buffer.alloc(0))

beforeAll(async () => {
  // Longer than any pause of the machine. A connection that ends just as it is reused would break the request.
  server = createServer({ keepAliveTimeout: 65_000 }, (req, res) => {
    lastOutcome = readBody(req, limit)
    lastOutcome.then(
      (body) => res.end(String(body.length)),
      (error: unknown) =>
        res.writeHead(400, { connection: 'close' }).end(error instanceof AppError ? error.code : 'other'),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function post(body: Uint8Array<ArrayBuffer>, encoding?: string): Promise<string> {
  const response = await fetch(url, { method: 'POST', body, headers: encoding ? { 'content-encoding': encoding } : {} })
  return response.text()
}

const compressors: [string, (data: Uint8Array) => Uint8Array][] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
]

describe('readBody', () => {
  it('accepts a body at the limit and refuses one byte more', async () => {
    expect(await post(new Uint8Array(limit))).toBe(String(limit))
    expect(await post(new Uint8Array(limit + 1))).toBe('PayloadTooLargeError')
  })

  it.each(compressors)('counts decompressed bytes of %s', async (encoding, compress) => {
    expect(await post(Uint8Array.from(compress(new Uint8Array(limit))), encoding)).toBe(String(limit))
    expect(await post(Uint8Array.from(compress(new Uint8Array(limit + 1))), encoding)).toBe('PayloadTooLargeError')
  })

  it('stops a zip bomb at the limit without inflating it', async () => {
    const bomb = Uint8Array.from(gzipSync(new Uint8Array(64_000_000)))
    expect(bomb.length).toBeLessThan(limit)
    expect(await post(bomb, 'gzip')).toBe('PayloadTooLargeError')
  })

  it('counts a body without a declared length', async () => {
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(30_000))
      },
    })
    // The server responds and closes while the client still sends, so the client may see either.
    await fetch(url, { method: 'POST', body: stream, duplex: 'half' } as RequestInit).then(
      (r) => r.text(),
      () => '',
    )
    await expect(lastOutcome).rejects.toMatchObject({ code: 'PayloadTooLargeError', details: { limit } })
  })

  it("checks the size before the encoding, and ignores an empty body's encoding", async () => {
    expect(await post(new Uint8Array(limit + 1), 'zstd')).toBe('PayloadTooLargeError')
    expect(await post(new Uint8Array(), 'zstd')).toBe('0')
  })

  it.each([
    ['gzip', 'BadRequestError'],
    ['br', 'BadRequestError'],
    ['zstd', 'UnsupportedMediaTypeError'],
    ['gzip, gzip', 'UnsupportedMediaTypeError'],
  ])('refuses malformed %s with %s', async (encoding, code) => {
    expect(await post(new TextEncoder().encode('{"a":1}'), encoding)).toBe(code)
  })
})
