import { initContract } from '@ts-rest/core'
import express, { type Response, Router } from 'express'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { mountContract, type Routes } from '../../src/http/mount.ts'
import { RawResponse } from '../../src/http/raw-response.ts'
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
  const failures: unknown[] = []
  const app = express()
  const router = Router()
  const routes: Routes<typeof contract> = {
    tapped: async () => ({ status: 200, body: new RawResponse(write) }),
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
