/**
 * Browser pages: one reads a run through its own server's route and survives a cut, the other is served over plain
 * HTTP.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Stet } from '@stet/sdk'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { openPage } from '../../../../sdk/test/browser/chromium.ts'
import type { Packed } from '../../../../sdk/test/package/packed.ts'
import type { RunBench } from '../../runs/run-bench.ts'

// The SDK's only dependency. A bundler would resolve it.
const IMPORT_MAP = '<script type="importmap">{"imports":{"eventsource-parser":"/sdk/eventsource-parser.mjs"}}</script>'
const parserFile = fileURLToPath(import.meta.resolve('eventsource-parser'))

const HTML = `<!doctype html><meta charset="utf-8">${IMPORT_MAP}<p></p><script type="module">
  import { openRun, RunStream } from '/sdk/browser.mjs'
  const show = (text) => { document.querySelector('p').textContent += text }
  window.outcome = (async () => {
    const stream = openRun('/api/reply', { body: { ticket: 'Where?' }, attachUrl: '/api/reply/attach', resume: { initialDelay: 5 } })
    const ids = [], states = []
    stream.on('sdk', ({ type }) => states.push(type)).on('event', ({ id }) => ids.push(Number(id)))
    for await (const text of stream.textStream) {
      show(text)
      // The model continues when the page has shown its text.
      if (text === 'One ') await fetch('/seen', { method: 'POST' })
    }
    const { response, uuid } = await stream.finalResult()
    const refused = await openRun('/api/refuse').finalResult().catch(({ name, status, errorCode }) => ({ name, status, errorCode }))
    const isOne = stream instanceof RunStream && uuid === stream.conversationUuid
    return { shown: document.querySelector('p').textContent, text: response.text, ids, states, refused, isOne }
  })()
</script>`

// This host is not a loopback name, so the browser does not treat plain HTTP as a secure context.
const PLAIN_HOST = 'intranet.test'
const PLAIN_HTML = `<!doctype html><meta charset="utf-8">${IMPORT_MAP}<script type="module">
  import { Stet } from '/sdk/index.mjs'
  window.outcome = (async () => {
    const settings = await (await fetch('/settings')).json()
    const stet = new Stet({ ...settings, baseUrl: location.origin, dangerouslyAllowBrowser: true, cache: true })
    const { response } = await stet.prompts.run('reply', { parameters: { ticket: 'Where?' } })
    const sources = []
    for (let i = 0; i < 2; i++) sources.push((await stet.prompts.get('reply')).source)
    const down = stet.withOptions({ baseUrl: 'http://127.0.0.1:1', maxRetries: 0, logLevel: 'off' })
    sources.push((await down.prompts.get('other', { fallback: 'As shipped' })).source)
    return { isSecureContext, hasUuids: 'randomUUID' in crypto, hasHashes: 'subtle' in crypto, text: response.text, sources }
  })()
</script>`

/** @param ready is called in the tests. */
export function webPageTests(binary: string, ready: () => { bench: RunBench; packed: Packed }): void {
  let site: Site
  beforeAll(async () => {
    const { bench, packed } = ready()
    const gate = new Promise<void>((resolve) => {
      site = { bench, packed, openGate: resolve, projectId: Number(/projects\/(\d+)/.exec(bench.live)?.[1]), url: '' }
    })
    bench.fake.enqueue({ deltas: ['One ', 'two ', 'thrée 👋'], gate, gateAfter: 1 })
    const server = createServer(
      { keepAliveTimeout: 0 },
      (request, response) => void serve(site, request, response).catch(() => response.destroy()),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return () => {
      server.closeAllConnections()
      server.close()
    }
  })

  it('streams, reconnects and ends with the result', async () => {
    const calls = site.bench.fake.requests.length
    const page = await openPage(binary, `${site.url}/`)
    onTestFinished(() => page.close())
    const outcome = (await page.evaluate('window.outcome')) as { ids: number[] }
    expect(outcome).toMatchObject({
      shown: 'One two thrée 👋',
      text: 'One two thrée 👋',
      states: ['reconnecting', 'reconnected'],
      refused: { name: 'ForbiddenError', status: 403, errorCode: 'not_yours' },
      isOne: true,
    })
    expect(outcome.ids).toEqual(outcome.ids.map((_, index) => index + 1))
    expect(site.bench.fake.requests).toHaveLength(calls + 1)
  })

  it('works over plain http, without randomUUID and subtle', async () => {
    const rules = `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`
    const address = `http://${PLAIN_HOST}:${new URL(site.url).port}/plain`
    const plain = await openPage(binary, address, { flags: [rules] })
    onTestFinished(() => plain.close())
    expect(await plain.evaluate('window.outcome')).toEqual({
      isSecureContext: false,
      hasUuids: false,
      hasHashes: false,
      text: expect.any(String),
      sources: ['network', 'cache', 'fallback'],
    })
  })
}

interface Site {
  bench: RunBench
  packed: Packed
  projectId: number
  url: string
  openGate(): void
}

async function serve(site: Site, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { bench, packed, projectId } = site
  const { url = '' } = request
  const [, file] = /^\/sdk\/([\w-]+\.mjs)$/.exec(url) ?? []
  if (file) {
    response.setHeader('Content-Type', 'text/javascript')
    const isParser = file === 'eventsource-parser.mjs'
    return void response.end(readFileSync(isParser ? parserFile : `${packed.folder}/dist/${file}`))
  }
  if (url.startsWith('/api/v3/')) return passToService(bench, request, response)
  if (url === '/settings') return void response.end(JSON.stringify({ apiKey: bench.key, projectId }))
  if (url === '/plain') return void response.setHeader('Content-Type', 'text/html').end(PLAIN_HTML)
  if (request.method !== 'POST') return void response.setHeader('Content-Type', 'text/html').end(HTML)
  const body = JSON.parse((await text(request)) || '{}') as { ticket?: string; conversationUuid?: string }
  const seen = request.headers['last-event-id']
  const stet = bench.server.client.project(projectId)
  if (url === '/seen') {
    site.openGate()
    response.end()
  } else if (url === '/api/refuse') {
    response.writeHead(403, { 'Content-Type': 'application/json' }).end('{"errorCode":"not_yours","message":"No"}')
  } else if (body.conversationUuid) {
    const after = typeof seen === 'string' ? { lastEventId: seen } : {}
    await passOn(stet.runs.attachStream(body.conversationUuid, after), response)
  } else {
    await passOn(stet.prompts.stream('reply', { parameters: body }), response, 'two ')
  }
}

/** Proxies the API through the site, because a page may only call its own origin. */
async function passToService(bench: RunBench, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '', headers } = request
  const sent = Object.entries(headers).filter(
    ([name]) => !/^(host|connection|content-length|origin|referer)$/.test(name),
  )
  const body = method === 'POST' ? { body: await buffer(request) } : {}
  const answer = await fetch(bench.server.url + url, { method, headers: sent as [string, string][], ...body })
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  for await (const bytes of answer.body ?? []) response.write(bytes)
  response.end()
}

/** Implements the documented route, with a connection that breaks after a given number of bytes. */
async function passOn(run: ReturnType<Stet['prompts']['stream']>, response: ServerResponse, breaksAfter?: string) {
  const { stream } = await run.withResponse()
  const answer = stream.toResponse()
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  for await (const frame of answer.body ?? []) {
    await new Promise((resolve) => response.write(frame, resolve))
    if (breaksAfter !== undefined && new TextDecoder().decode(frame).includes(breaksAfter)) {
      response.destroy()
      return
    }
  }
  response.end()
}
