import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createSignInLink } from '../src/commands/console/sign-in-link.ts'

test.each([
  ['http://0.0.0.0:PORT', 'http://127.0.0.1:8787/sign-in#code', 'http://127.0.0.1:PORT/sign-in#code'],
  ['http://127.0.0.1:PORT', 'http://127.0.0.1:8787/sign-in#code', 'http://127.0.0.1:PORT/sign-in#code'],
  ['http://localhost:PORT', 'http://[::1]:8787/sign-in#code', 'http://localhost:PORT/sign-in#code'],
  ['http://127.0.0.1:PORT/stet', 'http://localhost/stet/sign-in#code', 'http://127.0.0.1:PORT/stet/sign-in#code'],
  ['http://127.0.0.1:PORT', 'https://stet.example.com/sign-in#code', 'https://stet.example.com/sign-in#code'],
])('reached at %s, a link to %s becomes %s', async (reached, created, expected) => {
  const server = createServer((_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ url: created, expiresAt: '2026-01-01T00:00:00.000Z' }))
  }).listen(0, '127.0.0.1')
  onTestFinished(async () => {
    server.close()
    await once(server, 'close')
  })
  await once(server, 'listening')
  const port = String((server.address() as AddressInfo).port)
  const baseUrl = `${reached.replace('PORT', port)}/api/v3`
  const { url } = await createSignInLink({ baseUrl, apiKey: 'key', timeoutMs: 5_000 })
  expect(url).toBe(expected.replace('PORT', port))
})
