/**
 * Browser pages: one reads a run through its own server's route and survives a cut, the other is served over plain
 * HTTP.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Stet } from '@stet/sdk'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { headlessChromium as chromium, openPage, type Page } from '../../../../sdk/test/browser/chromium.ts'
import { type Packed, packSdk } from '../../../../sdk/test/package/packed.ts'
import { prompt, type RunBench, runBench } from '../../runs/run-bench.ts'

if (!chromium)
  console.warn('\n*** SKIPPED: a run in a web page. Install Chromium, or set STET_TEST_CHROMIUM to its binary. ***\n')

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

let bench: RunBench
let packed: Packed
let site: Server
let siteUrl: string
let projectId: number
let page: Page | undefined
let openGate = () => {}
beforeAll(async () => {
  if (!chromium) return
  packed = await packSdk('dist')
  bench = await runBench({ reply: prompt('<user>{{ ticket }}</user>') })
  projectId = Number(/projects\/(\d+)/.exec(bench.live)?.[1])
  const gate = new Promise<void>((resolve) => {
    openGate = resolve
  })
  bench.fake.enqueue({ deltas: ['One ', 'two ', 'thrée 👋'], gate, gateAfter: 1 })
  site = createServer(
    { keepAliveTimeout: 0 },
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  )
  await once(site.listen(0, '127.0.0.1'), 'listening')
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  page = await openPage(chromium, `${siteUrl}/`)
}, 300_000)
afterAll(async () => {
  await page?.close()
  site?.closeAllConnections()
  site?.close()
  await bench?.close()
  packed?.remove()
})

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '' } = request
  const [, file] = /^\/sdk\/([\w-]+\.mjs)$/.exec(url) ?? []
  if (file) {
    response.setHeader('Content-Type', 'text/javascript')
    const isParser = file === 'eventsource-parser.mjs'
    return void response.end(readFileSync(isParser ? parserFile : `${packed.folder}/dist/${file}`))
  }
  if (url.startsWith('/api/v3/')) return passToService(request, response)
  if (url === '/settings') return void response.end(JSON.stringify({ apiKey: bench.key, projectId }))
  if (url === '/plain') return void response.setHeader('Content-Type', 'text/html').end(PLAIN_HTML)
  if (request.method !== 'POST') return void response.setHeader('Content-Type', 'text/html').end(HTML)
  const body = JSON.parse((await text(request)) || '{}') as { ticket?: string; conversationUuid?: string }
  const seen = request.headers['last-event-id']
  const stet = bench.server.client.project(projectId)
  if (url === '/seen') {
    openGate()
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
async function passToService(request: IncomingMessage, response: ServerResponse): Promise<void> {
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

it.runIf(chromium)('streams, reconnects and ends with the result', async () => {
  const outcome = (await page?.evaluate('window.outcome')) as { ids: number[] }
  expect(outcome).toMatchObject({
    shown: 'One two thrée 👋',
    text: 'One two thrée 👋',
    states: ['reconnecting', 'reconnected'],
    refused: { name: 'ForbiddenError', status: 403, errorCode: 'not_yours' },
    isOne: true,
  })
  expect(outcome.ids).toEqual(outcome.ids.map((_, index) => index + 1))
  expect(bench.fake.requests).toHaveLength(1)
})

it.runIf(chromium)('works over plain http, without randomUUID and subtle', async () => {
  const port = new URL(siteUrl).port
  const rules = `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`
  const plain = await openPage(chromium ?? '', `http://${PLAIN_HOST}:${port}/plain`, { flags: [rules] })
  onTestFinished(() => plain.close())
  expect(await plain.evaluate('window.outcome')).toEqual({
    isSecureContext: false,
    hasUuids: false,
    hasHashes: false,
    text: expect.any(String),
    sources: ['network', 'cache', 'fallback'],
  })
})
