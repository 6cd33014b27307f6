/**
 * Every TypeScript example of docs/sdk runs unchanged, on a server with a fake provider. Those that are files of their own
 * (`<!-- run: … -->`) run in the SDK's `chat-endpoint.test.ts`.
 */
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as sdk from '@stet/sdk'
import * as ai from '@stet/sdk/ai'
import * as browser from '@stet/sdk/browser'
import * as latitude from '@stet/sdk/latitude'
import * as render from '@stet/sdk/render'
import * as testing from '@stet/sdk/testing'
import OpenAI from 'openai'
import ts from 'typescript'
import * as vitest from 'vitest'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import * as zod from 'zod'
import { prompt, type RunBench, runBench } from '../../runs/run-bench.ts'
import type { FakeRequest } from '../../support/fake-provider.ts'

/** Examples that cannot run, by page and content, with the reason. All others run. */
const NOT_RUN: [page: string, holds: string, reason: string][] = [
  ['typed-prompts.md', "declare module '@stet/sdk'", 'a declaration: only the compiler reads it'],
  ['frontends.md', "openRun('/api/chat'", 'needs the chat endpoint, which runs in the other test'],
]

const MODULES: Record<string, object> = {
  '@stet/sdk': sdk,
  '@stet/sdk/ai': ai,
  '@stet/sdk/browser': browser,
  '@stet/sdk/latitude': latitude,
  '@stet/sdk/render': render,
  '@stet/sdk/testing': testing,
  vitest,
  zod,
}

const folder = fileURLToPath(new URL('../../../../../docs/sdk/', import.meta.url))
const examples = readdirSync(folder).flatMap((page) =>
  [...readFileSync(folder + page, 'utf8').matchAll(/(?<!^<!-- run: .* -->\n)^```ts\n(.*?)^```/gms)].map(
    ([, code = ''], index) => ({
      page,
      place: `${page} ${index + 1}`,
      code,
    }),
  ),
)
const reasonOf = ({ page, code }: (typeof examples)[number]) =>
  NOT_RUN.find(([name, holds]) => page === name && code.includes(holds))?.[2]
const runnable = examples.filter((example) => reasonOf(example) === undefined)

// The README pushes these prompts.
const promptFolder = fileURLToPath(new URL('../../../../../examples/prompts/', import.meta.url))
const prompts = readdirSync(promptFolder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.promptl'))
  .map((file) => ({ path: file.slice(0, -'.promptl'.length), content: readFileSync(promptFolder + file, 'utf8') }))

let bench: RunBench
let site: Server
let siteUrl: string
const temporary = mkdtempSync(`${tmpdir()}/stet-docs-`)
beforeAll(async () => {
  bench = await runBench({})
  bench.fake.setDefault(reply)
  const { client } = bench.server
  const { uuid } = await client.versions.create('first')
  const changes = prompts.map((one) => ({ ...one, status: 'added' as const }))
  await client.versions.push(uuid, changes)
  await client.versions.publish(uuid)
  vi.stubEnv('STET_LOG', 'off')
  vi.stubEnv('STET_API_KEY', bench.key)
  vi.stubEnv('LATITUDE_API_KEY', bench.key)
  vi.stubEnv('STET_BASE_URL', bench.server.url)
  vi.stubEnv('STET_PROJECT_ID', '1')
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  for (const name of ['log', 'error'] as const) vi.spyOn(console, name).mockReturnValue()
  site = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    answer(request.url ?? '', request.headers, textOf(request)).then(
      async ({ status, headers, body }) => {
        response.writeHead(status, Object.fromEntries(headers))
        for await (const bytes of body ?? []) response.write(bytes)
        response.end()
      },
      () => response.destroy(),
    )
  })
  await once(site.listen(0, '127.0.0.1'), 'listening')
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
})
afterAll(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  site?.closeAllConnections()
  site?.close()
  await bench?.close()
  rmSync(temporary, { recursive: true })
})

/** The fake model calls its tools once, then answers by the schema or in words. */
function reply({ body }: FakeRequest) {
  const isAnswered = JSON.stringify(body['messages']).includes('"role":"tool"')
  if (body['tools'] && !isAnswered) {
    return { toolCalls: [{ id: 'a', name: 'get_weather', arguments: { city: 'Rome' } }] }
  }
  return body['response_format']
    ? { object: { label: 'bug', urgency: 4, summary: 'Late' } }
    : { text: 'It is on its way.' }
}

/** Serves the routes that the web page documentation describes. */
async function answer(url: string, headers: object, sent: Promise<string>): Promise<Response> {
  if (url.startsWith('/weather/')) return new Response('sunny')
  const route = runnable.find(({ code }) => code.match(/^\/\/ the route (\S+)/)?.[1] === url)
  if (!route) return new Response('', { status: 404 })
  const POST = (await run(route.code)) as (request: Request) => Promise<Response>
  const init = { method: 'POST', body: await sent, headers: Object.entries(headers) as [string, string][] }
  return POST(new Request(siteUrl + url, init))
}

/** Defines the names that the text around the examples introduces, and makes those that the example uses. */
async function scene(code: string) {
  const uses = (...names: string[]) => names.some((name) => new RegExp(`\\b${name}\\b`).test(code))
  const stet = new sdk.Stet()
  const reply = { parameters: { ticket: 'Where is my order?' } }
  const draft = uses('draft', 'draftUuid') ? await stet.versions.create('draft') : undefined
  const result = uses('result', 'uuid') ? await stet.prompts.run('support/reply', reply) : undefined
  const baseHash = uses('baseHash') && (await stet.prompts.get('support/reply')).contentHash
  const stream = uses('stream') && stet.prompts.stream('support/reply', reply)
  const content = prompt('<user>New {{ ticket }}</user>')
  const openai = new OpenAI({ apiKey: 'sk-test', baseURL: bench.fake.url })
  return {
    ...sdk,
    ...{ stet, draft, draftUuid: draft?.uuid, result, uuid: result?.uuid, stream, openai, baseHash },
    ...{ content, text: content, ticket: 'Where is my order?', ticketId: 4711, key: bench.key, prompt: content },
    ...{ site: siteUrl, weatherService: `${siteUrl}/weather`, show: () => {}, assertMayRead: async () => {} },
  }
}

async function run(code: string): Promise<unknown> {
  const own = code
    .replace('stet_…', bench.key)
    .replaceAll('8787', new URL(bench.server.url).port)
    .replace('test/cassettes', temporary)
    .replace(/'(?=\/api\/)/g, `'${siteUrl}`)
    .replace(/^import (\{[^}]*\}) from '([^']*)'$/gm, "const $1 = modules['$2']")
    .replace(/^import type .*$/gm, '')
    .replace(/^export /gm, '')
  const post = /function POST\b/.test(own) ? 'POST' : ''
  const { outputText } = ts.transpileModule(`async function example() {\n${own}\nreturn ${post}\n}`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022 },
  })
  const names = { ...(await scene(own)), modules: MODULES }
  const made = new Function(...Object.keys(names), `${outputText}\nreturn example()`)
  return (made as (...values: unknown[]) => Promise<unknown>)(...Object.values(names))
}

it('finds examples on every page, and every example listed as not run', () => {
  expect(new Set(examples.map(({ page }) => page))).toEqual(new Set(readdirSync(folder)))
  expect(examples.length).toBeGreaterThanOrEqual(50)
  const kept = NOT_RUN.filter(([name, holds]) =>
    examples.some(({ page, code }) => page === name && code.includes(holds)),
  )
  expect(kept).toEqual(NOT_RUN)
})

it.each(runnable)('$place', async ({ code }) => {
  const POST = (await run(code)) as ((request: Request) => Promise<Response>) | undefined
  if (!POST) return
  const parts = [{ type: 'text', text: 'Hello?' }]
  const { uuid } = await new sdk.Stet().prompts.run('support/reply', { parameters: { ticket: 'Hello?' } })
  const body = JSON.stringify({ ticket: 'Hello?', conversationUuid: uuid, messages: [{ role: 'user', parts }] })
  const response = await POST(new Request(`${siteUrl}/`, { method: 'POST', body }))
  expect(response.status).toBe(200)
  expect(await response.text()).toMatch(/chain-completed|"type":"finish"/)
})
