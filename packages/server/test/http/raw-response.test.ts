import { initContract } from '@ts-rest/core'
import express, { type Response, Router } from 'express'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { mountContract, type Routes } from '../../src/http/mount.ts'
import { itemList, RawResponse } from '../../src/http/raw-response.ts'
import type { AppError } from '../../src/shared/app-error.ts'
import { type Listening, listening } from './listening.ts'

const c = initContract()
const contract = c.router({
  tapped: { method: 'GET', path: '/tapped', responses: { 200: z.unknown() }, metadata: {} },
  checked: { method: 'GET', path: '/checked', responses: { 200: z.object({ a: z.number() }) }, metadata: {} },
})

const open: Listening[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
})

async function serve(write: (res: Response) => void): Promise<{ url: string; failures: unknown[] }> {
  return serveBody(() => new RawResponse(write))
}

async function serveBody(bodyFor: (res: Response) => unknown): Promise<{ url: string; failures: unknown[] }> {
  const failures: unknown[] = []
  const app = express()
  const router = Router()
  const routes: Routes<typeof contract> = {
    tapped: async ({ res }) => ({ status: 200, body: await bodyFor(res) }),
    checked: async () => ({ status: 200, body: { a: 'no number' } as never }),
  }
  mountContract({ contract, routes, router, before: [], validateResponses: true })
  app.use(router, (error: unknown, _req: unknown, res: Response, _next: unknown) => {
    failures.push(error)
    res.status(500).end()
  })
  const server = await listening(app)
  open.push(server)
  return { url: server.url, failures }
}

describe('raw response', () => {
  it('writes head and body without validation', async () => {
    const { url, failures } = await serve((res) => {
      res.setHeader('Content-Type', 'text/event-stream')
      res.write('event: a\n\n')
      res.end('event: b\n\n')
    })
    const response = await fetch(`${url}/tapped`)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(await response.text()).toBe('event: a\n\nevent: b\n\n')
    expect(failures).toEqual([])
  })

  it('passes a failing writer to the error handler and does not end the process', async () => {
    const { url, failures } = await serve(() => {
      throw new Error('writer failed')
    })
    expect((await fetch(`${url}/tapped`)).status).toBe(500)
    expect(failures).toEqual([new Error('writer failed')])
  })

  it('validates ordinary bodies against the contract', async () => {
    const { url, failures } = await serve(() => {})
    expect((await fetch(`${url}/checked`)).status).toBe(500)
    expect(failures).toHaveLength(1)
  })
})

describe('a list of items', () => {
  const text = (index: number) => `${index} "quoted" \u2028 `.repeat(10_000)

  /** Counts the items made, the reservations, and the most characters that were made ahead of the client. */
  async function serveItems(
    size: number,
    options: { mostBytes?: number; failAt?: number; hasLargeItems?: boolean } = {},
  ) {
    const seen = { made: 0, reserved: 0, afterReservation: 0, held: -1 }
    const { failAt, ...listOptions } = options
    const items = async function* () {
      for (let index = 0; index < size; index += 1) {
        if (seen.reserved > 0 && index === failAt) throw new Error('no item')
        seen.made += 1
        if (seen.reserved > 0) seen.afterReservation += 1
        yield { index, text: text(index) }
      }
    }
    const unread = {
      reserve: async () => {
        seen.reserved += 1
      },
      hold: (_res: unknown, bytes: number) => {
        seen.held = bytes
      },
    }
    const bodyOf = (all: { index: number; text: string }[]) => ({ base: null, items: all })
    const list = { items, bodyOf, ...listOptions }
    const served = await serveBody((res) => itemList(unread, { res, apiKeyId: 1 }, list))
    return {
      ...served,
      seen,
      whole: bodyOf(Array.from({ length: size }, (_, index) => ({ index, text: text(index) }))),
    }
  }

  it('is one value if it is small, and the same bytes in pieces if it is large', async () => {
    const sizes = [0, 1, 3, 40]
    for (const size of sizes) {
      const { url, whole, seen } = await serveItems(size)
      const response = await fetch(`${url}/tapped`)
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(await response.text()).toBe(JSON.stringify(whole))
      expect(seen.reserved).toBe(size === 40 ? 1 : 0)
    }
  })

  it('waits for room before the first large item, once, and gives it back for a small list', async () => {
    for (const [size, held] of [
      [1, 0],
      [40, -1],
    ] as const) {
      const { url, whole, seen } = await serveItems(size, { hasLargeItems: true })
      expect(await (await fetch(`${url}/tapped`)).text()).toBe(JSON.stringify(whole))
      const made = size === 40 ? expect.any(Number) : size
      expect(seen).toEqual({ made, reserved: 1, afterReservation: made, held })
    }
  })

  it('makes items only as fast as the client reads them', async () => {
    const { url, seen } = await serveItems(1_000)
    const response = await fetch(`${url}/tapped`)
    const reader = response.body?.getReader()
    await reader?.read()
    await expect.poll(() => seen.afterReservation).toBeGreaterThan(0)
    let before = -1
    // The buffers of the sockets take some megabytes.
    await expect
      .poll(() => {
        const isStill = before === seen.afterReservation
        before = seen.afterReservation
        return isStill
      })
      .toBe(true)
    expect(seen.afterReservation).toBeLessThan(500)
    await reader?.cancel()
  })

  it('is refused above its limit before more items are made', async () => {
    const { url, failures, seen } = await serveItems(1_000, { mostBytes: 3_000_000 })
    expect((await fetch(`${url}/tapped`)).status).toBe(500)
    expect((failures[0] as AppError).reason).toBe('list-too-large')
    expect(seen.reserved).toBe(0)
    // Each item has about 170,000 bytes.
    expect(seen.made).toBeLessThan(25)
  })

  it('ends the connection if an item cannot be made', async () => {
    const { url } = await serveItems(40, { failAt: 20 })
    const read = fetch(`${url}/tapped`).then((response) => response.text())
    await expect(read).rejects.toThrow()
  })
})
