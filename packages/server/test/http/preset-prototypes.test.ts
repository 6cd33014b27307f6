import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { afterEach, describe, expect, it } from 'vitest'
import { presetPrototypes } from '../../src/http/server.ts'

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

const app = express()
app.get('/prototypes', (req, res) => {
  res.json({
    request: Object.getPrototypeOf(req) === app.request,
    response: Object.getPrototypeOf(res) === app.response,
    query: req.query,
    header: req.get('x-sent'),
  })
})
app.post('/echo', (req, res) => {
  res.type('text/plain')
  req.pipe(res)
})

async function serve(nodeMajor: number): Promise<string> {
  // Kept longer than a machine stands still: a connection that ends just as it is used again breaks the request.
  const server = createServer({ ...presetPrototypes(app, nodeMajor), keepAliveTimeout: 65_000 }, app)
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('requests born with the prototypes of Express', () => {
  it('are made below Node 24 only, and only for an Express app', () => {
    expect(Object.keys(presetPrototypes(app, 20))).toEqual(['IncomingMessage', 'ServerResponse'])
    expect(presetPrototypes(app, 24)).toEqual({})
    expect(presetPrototypes(() => {}, 20)).toEqual({})
  })

  it.each([20, 24])('behave like others (as on Node %i)', async (nodeMajor) => {
    const url = await serve(nodeMajor)
    const response = await fetch(`${url}/prototypes?a=1`, { headers: { 'x-sent': 'yes' } })
    expect(await response.json()).toEqual({ request: true, response: true, query: { a: '1' }, header: 'yes' })
    const echo = await fetch(`${url}/echo`, { method: 'POST', body: 'x'.repeat(100_000) })
    expect(await echo.text()).toHaveLength(100_000)
    expect((await fetch(`${url}/nowhere`)).status).toBe(404)
  })
})
