/** Bodies that are cheap to send and expensive to process must be refused within a second, without memory growth. */
import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createGzip, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prompt } from '../runs/run-bench.ts'
import { heardMs } from '../support/heard-time.ts'
import { hasProcessFigures, residentBytes } from '../support/process-figures.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type RunServer, runServer } from './run-server.ts'

const megabyte = 1024 * 1024
const limitMs = 1_000
const mostTries = 12
const limitBytes = 50 * megabyte

let bench: RunServer
let folder: string
/** One gigabyte, compressed to a megabyte. */
let gigabyteFile: string
beforeAll(async () => {
  bench = await runServer({ hello: prompt('<user>Hi</user>') })
  folder = await temporaryFolder()
  gigabyteFile = join(folder, 'gigabyte.gz')
  const blanks = Buffer.alloc(megabyte, ' ')
  const blocks = Readable.from(
    (function* () {
      for (let block = 0; block < 1024; block += 1) yield blanks
    })(),
  )
  await pipeline(blocks, createGzip({ level: 1 }), createWriteStream(gigabyteFile))
}, 120_000)
afterAll(async () => {
  await bench.close()
  await rm(folder, { recursive: true })
})

interface Bomb {
  name: string
  status: number
  encoding?: string
  body(): Readable
}

/** The nesting is inside a key that the route reads, so the parser cannot skip it. */
const deep = (levels: number) => `{"path":"hello","parameters":{"x":${'['.repeat(levels)}${']'.repeat(levels)}}}`
const deepObject = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const blocksOf = (many: number) =>
  Readable.from(
    (function* () {
      const block = Buffer.alloc(megabyte, ' ')
      for (let sent = 0; sent < many; sent += 1) yield block
    })(),
  )

const bombs: Bomb[] = [
  { name: 'arrays to a depth of 100,000', status: 400, body: () => Readable.from([deep(100_000)]) },
  { name: 'objects to a depth of 100,000', status: 400, body: () => Readable.from([deepObject(100_000)]) },
  { name: 'arrays to a depth of 2,000,000', status: 400, body: () => Readable.from([deep(2_000_000)]) },
  { name: '100 MB', status: 413, body: () => blocksOf(100) },
  { name: 'gzip of 1 GB', status: 413, encoding: 'gzip', body: () => createReadStream(gigabyteFile) },
  {
    name: 'gzip of gzip',
    status: 415,
    encoding: 'gzip, gzip',
    body: () => Readable.from([gzipSync(gzipSync(Buffer.alloc(megabyte)))]),
  },
]

/** Returns the status and the time until the response head. Stops sending when the server stops reading. */
async function send(path: string, bomb: Bomb): Promise<{ status: number; ms: number }> {
  const answered = statusOf(path, bomb)
  const ms = await heardMs(answered)
  return { status: await answered, ms }
}

function statusOf(path: string, bomb: Bomb): Promise<number> {
  const body = bomb.body()
  return new Promise((resolve, reject) => {
    const sent = request(`${bench.server.url}/api/v3${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bench.key}`,
        'content-type': 'application/json',
        ...(bomb.encoding !== undefined && { 'content-encoding': bomb.encoding }),
      },
    })
    sent.on('response', (answer) => {
      resolve(answer.statusCode ?? 0)
      body.destroy()
      sent.destroy()
    })
    sent.on('error', reject)
    body.pipe(sent)
  })
}

describe.skipIf(!hasProcessFigures)('body bombs', () => {
  it.each(bombs)(
    '$name',
    async (bomb) => {
      for (const path of ['/projects', `${bench.live}/documents/run`]) {
        // The first request of a route also warms its code. That memory counts too.
        const before = await residentBytes(bench.server.child)
        let peak = before
        let isOver = false
        const watching = (async () => {
          while (!isOver) {
            peak = Math.max(peak, await residentBytes(bench.server.child))
            await delay(5)
          }
        })()
        const tries = [await send(path, bomb), await send(path, bomb), await send(path, bomb)]
        const fastest = () => Math.min(...tries.map(({ ms }) => ms))
        // A busy machine may delay some requests, but not all.
        while (fastest() >= limitMs && tries.length < mostTries) tries.push(await send(path, bomb))
        isOver = true
        await watching
        const told = JSON.stringify({ path, tries, growth: (peak - before) / megabyte })
        expect(new Set(tries.map(({ status }) => status)), told).toEqual(new Set([bomb.status]))
        expect(fastest(), told).toBeLessThan(limitMs)
        expect(peak - before, told).toBeLessThan(limitBytes)
      }
      expect((await bench.post(`${bench.live}/documents/run`, { path: 'hello' })).status).toBe(200)
    },
    120_000,
  )

  it('compresses the gigabyte to less than 8 MB', async () => {
    expect((await stat(gigabyteFile)).size).toBeLessThan(8 * megabyte)
  })
})
