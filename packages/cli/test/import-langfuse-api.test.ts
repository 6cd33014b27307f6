import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { escapes, rawEscapes } from './support/hostile.ts'
import { personWith } from './support/imported.ts'
import { keys, type StoredVersion, startLangfuse, startServer } from './support/langfuse.ts'

const flags = ['--public-key', keys.publicKey, '--secret-key', keys.secretKey]

async function importFrom(address: string, ...more: string[]) {
  const person = await personWith()
  const ended = await person.stet(['import', 'langfuse', '--url', address, ...flags, '--json', ...more])
  // The secret is in no output of any kind.
  expect(ended.stdout + ended.stderr).not.toContain(keys.secretKey)
  expect(ended.stdout + ended.stderr).not.toContain(Buffer.from(keys.secretKey).toString('base64').slice(0, 8))
  return { person, ...ended }
}

const read = (person: { folder: string }, path: string) =>
  readFile(join(person.folder, `prompts/${path}.promptl`), 'utf8')

test('the list is read page by page, and the production version of each prompt with its references', async () => {
  const many = Array.from(
    { length: 250 },
    (_, at): StoredVersion => ({
      name: `many/p ${at}`,
      version: 1,
      labels: ['production', 'latest'],
      prompt: `Text ${at}`,
    }),
  )
  const versions: StoredVersion[] = [
    ...many,
    { name: 'support/reply', version: 1, labels: [], prompt: 'old' },
    {
      name: 'support/reply',
      version: 2,
      labels: ['production'],
      prompt: [{ role: 'system', content: '@@@langfusePrompt:name=tone|label=production@@@\n{{x}}' }],
    },
    { name: 'support/reply', version: 3, labels: ['staging', 'latest'], prompt: 'new' },
    {
      name: 'tone',
      version: 7,
      labels: ['production', 'eu'],
      prompt: 'Be kind.',
      config: { temperature: 0.5 },
      tags: ['a'],
    },
    { name: 'unlabeled', version: 4, labels: [], prompt: 'four' },
    { name: 'unlabeled', version: 5, labels: [], prompt: 'five' },
    { name: 'fresh?#/%', version: 1, labels: ['latest'], prompt: 'odd name' },
  ]
  const { address, requests } = await startLangfuse(versions)
  const { person, code, stdout } = await importFrom(`${address}/`)
  expect(code).toBe(0)
  const { files, losses } = JSON.parse(stdout)
  expect(files).toHaveLength(254)
  expect(requests.filter((url) => url.includes('page='))).toHaveLength(3)
  expect(await read(person, 'support/reply')).toContain('<prompt path="../tone" />\n{{ x }}')
  expect(await read(person, 'tone')).toContain('temperature: 0.5\n---\n\nBe kind.')
  expect(await read(person, 'unlabeled')).toContain('five')
  expect(await read(person, 'many/p-249')).toContain('Text 249')
  const said = losses.map((loss: { path: string; message: string }) => `${loss.path}: ${loss.message}`)
  expect(said.filter((loss: string) => !loss.includes('is now named'))).toEqual([
    'support/reply: Imported version 2; skipped 3, 1',
    'support/reply: The label "staging" of version 3 was dropped',
    'tone: The label "eu" of version 7 was dropped',
    'tone: The tags a were dropped',
    'unlabeled: Imported version 5; skipped 4',
  ])
})

test('keys and address come from the environment too, as for the clients of Langfuse, or the secret from standard input', async () => {
  const { address } = await startLangfuse([{ name: 'a', version: 1, labels: ['production'], prompt: 'x' }])
  const person = await personWith()
  const env = { LANGFUSE_PUBLIC_KEY: keys.publicKey, LANGFUSE_SECRET_KEY: keys.secretKey }
  for (const name of ['LANGFUSE_BASE_URL', 'LANGFUSE_HOST', 'LANGFUSE_BASEURL']) {
    expect(await person.stet(['import', 'langfuse', '--dry-run'], '', { ...env, [name]: address })).toMatchObject({
      code: 0,
    })
  }
  const piped = ['import', 'langfuse', '--url', address, '--public-key', keys.publicKey, '--source-key-stdin']
  expect(await person.stet(piped, `${keys.secretKey}\n`)).toMatchObject({ code: 0 })
  for (const args of [
    [],
    ['--url', address],
    ['in.json', '--url', address, ...flags],
    [address, '--dry-run'],
    ['--url', 'ftp://x', ...flags],
    ['--url', 'https://user:pass@example.com', ...flags],
  ]) {
    expect(await person.stet(['import', 'langfuse', ...args]), args.join(' ')).toMatchObject({ code: 2, stdout: '' })
  }
  expect(await person.stet(['import', 'openai'])).toMatchObject({ code: 2, stderr: expect.stringContaining('source') })
  expect(await person.stet(['import', 'openai', 'x', '--url', address])).toMatchObject({ code: 2 })
})

const list = (names: readonly string[], totalPages = 1) =>
  JSON.stringify({ data: names.map((name) => ({ name, versions: [1], labels: ['production'] })), meta: { totalPages } })

type Hostile = (request: IncomingMessage, response: ServerResponse, url: URL) => void

const hostile: [string, Hostile, number, RegExp][] = [
  ['wrong keys', (_, response) => response.writeHead(401).end('{}'), 4, /refused the keys \(401\)/],
  ['another server', (_, response) => response.writeHead(404).end('Not found'), 7, /did not return a list of prompts/],
  ['a web page', (_, response) => response.end(`<html>${escapes}</html>`), 7, /did not answer with JSON/],
  [
    'a redirect',
    (_, response) => response.writeHead(308, { location: 'http://127.0.0.1:1/steal' }).end(),
    7,
    /answered 308, a redirect/,
  ],
  ['no list', (_, response) => response.end('{"data": {}}'), 7, /did not return a list of prompts/],
  ['an error', (_, response) => response.writeHead(500).end('{}'), 5, /answered 500/],
  [
    'pages without end',
    (_, response, url) => {
      const page = Number(url.searchParams.get('page'))
      response.end(
        list(
          Array.from({ length: 100 }, (_, at) => `p${page}-${at}`),
          1e9,
        ),
      )
    },
    7,
    /lists more than 10000 prompts/,
  ],
  [
    'a huge answer',
    (_, response) => {
      const chunk = Buffer.alloc(1_000_000, ' ')
      const more = (): void => {
        while (response.write(chunk));
        response.once('drain', more)
      }
      response.on('error', () => undefined)
      more()
    },
    7,
    /sent more than 8 MB in one answer/,
  ],
  [
    'a broken answer',
    (_, response) => response.writeHead(200, { 'content-length': 9 }).end('{', () => response.destroy()),
    9,
    /./,
  ],
  [
    '429 without end',
    (_, response) => response.writeHead(429, { 'retry-after': '0' }).end(),
    10,
    /answered 429 too often/,
  ],
  [
    'a long pause',
    (_, response) => response.writeHead(429, { 'retry-after': '86400' }).end(),
    10,
    /answered 429 too often/,
  ],
]

test.each(hostile)('a server that answers with %s is refused clearly', async (_, answer, code, message) => {
  const { address, requests } = await startServer(answer)
  const ended = await importFrom(address)
  expect(ended).toMatchObject({ code, stdout: '' })
  expect(ended.stderr).toMatch(message)
  expect(ended.stderr).not.toMatch(rawEscapes)
  expect(requests.length).toBeLessThan(150)
})

test('names and texts of a hostile server stay in the folder, reach no other address and no terminal', async () => {
  const names = ['../../evil', '..', '.', 'api/../../../x', 'CON', escapes, 'ok']
  const { address, requests } = await startServer((_, response, url) => {
    const isList = url.pathname.endsWith('/prompts')
    const prompt = { name: '/etc/passwd', prompt: `a${escapes}`, labels: ['production'], version: 1, [escapes]: 1 }
    response.end(isList ? list([...names, ...names], 3) : JSON.stringify(prompt))
  })
  const person = await personWith()
  const ended = await person.stet(['import', 'langfuse', '--url', address, ...flags])
  expect(ended.code).toBe(0)
  expect(ended.stdout + ended.stderr).not.toMatch(/\x1b\[2J|\x07|[\x80-\x9f]/)
  expect(ended.stdout.split('\n').every((line) => line === '' || line.startsWith('written\tprompts/'))).toBe(true)
  expect(ended.stdout).not.toContain('passwd')
  for (const url of requests) expect(url).toMatch(/^\/api\/public\/v2\/prompts[?/]/)
})

test('a busy server is asked again after the pause it names, and a prompt deleted meanwhile is reported', async () => {
  let refusals = 2
  const { address } = await startServer((_, response, url) => {
    if (refusals > 0) {
      refusals -= 1
      response.writeHead(429, { 'retry-after': '0' }).end()
    } else if (url.pathname.endsWith('/prompts')) response.end(list(['a', 'gone']))
    else if (url.pathname.endsWith('/gone')) response.writeHead(404).end('{}')
    else response.end(JSON.stringify({ name: 'a', version: 1, labels: ['production'], prompt: 'x' }))
  })
  const { code, stdout } = await importFrom(address)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    files: [{ path: 'a' }],
    losses: [{ path: 'gone', message: expect.stringContaining('Skipped: Langfuse did not return it') }],
  })
})
