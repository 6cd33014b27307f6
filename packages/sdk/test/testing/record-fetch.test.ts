import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ConfigurationError, Stet } from '../../src/index.ts'
import { recordFetch } from '../../src/testing/index.ts'
import { events, json, localServer, openEvents } from '../support/local-server.ts'
import { frames, result, runEvents } from '../support/sample-run.ts'

const KEY = 'stet_topsecretkey1234'

function cassetteFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stet-cassette-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'nested', 'cassette.json')
}

/** Waits for that many recordings. A stream's recording is written at its end, just after its result. */
async function recordings(file: string, count: number): Promise<string> {
  const read = () => (existsSync(file) ? readFileSync(file, 'utf8') : '[]')
  await vi.waitFor(() => expect(JSON.parse(read())).toHaveLength(count), 120_000)
  return read()
}

function replaying(file: string, mode?: 'replay'): Stet {
  const offline: typeof fetch = () => Promise.reject(new Error('The network was asked'))
  const fetch = recordFetch(file, { fetch: offline, ...(mode && { mode }) })
  return new Stet({ apiKey: 'other', baseUrl: 'http://stet.invalid', projectId: 1, maxRetries: 0, fetch })
}

it('replays without an API key, and needs one to record', async () => {
  const file = cassetteFile()
  const server = await localServer(events(frames(runEvents(['Hello']))))
  const at = { baseUrl: server.url, projectId: 1 }
  expect(await messageOf(new Stet({ ...at, fetch: recordFetch(file) }).prompts.run('a/b'))).toContain('No API key')
  expect(server.requests).toHaveLength(0)
  await new Stet({ ...at, apiKey: KEY, fetch: recordFetch(file) }).prompts.run('a/b')
  await recordings(file, 1)
  for (const mode of ['auto', 'replay'] as const) {
    const stet = new Stet({ ...at, fetch: recordFetch(file, { mode }) })
    expect((await stet.prompts.run('a/b')).response.text).toBe('Hello')
  }
  expect(server.requests).toHaveLength(1)
})

async function messageOf(promise: PromiseLike<unknown>): Promise<string> {
  const error: unknown = await Promise.resolve(promise).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(ConfigurationError)
  return String(error)
}

it('records once and replays without a server, streams and JSON alike', async () => {
  const file = cassetteFile()
  const server = await localServer(
    events(frames(runEvents(['Hel', 'lo 👋'])), { chunkBytes: 3 }),
    json(result('plain')),
    json([]),
  )
  const recording = new Stet({ apiKey: KEY, baseUrl: server.url, projectId: 1, fetch: recordFetch(file) })
  const first = await recording.prompts.run('a/b', { parameters: { n: 1 } })
  await recording.prompts.run('a/b', { stream: false })
  await recording.prompts.list({ prefix: 'a/' })
  expect(server.requests).toHaveLength(3)
  await recordings(file, 3)

  const stet = replaying(file)
  const deltas: string[] = []
  const again = await stet.prompts.run('a/b', { parameters: { n: 1 }, onText: (delta) => deltas.push(delta) })
  expect(again).toEqual(first)
  expect(deltas).toEqual(['Hel', 'lo 👋'])
  expect((await stet.prompts.run('a/b', { stream: false })).response.text).toBe('plain')
  expect(await stet.prompts.list({ prefix: 'a/' })).toEqual([])
})

it('shows how a request differs from the nearest recording', async () => {
  const file = cassetteFile()
  const server = await localServer(json(result('plain')))
  const recording = new Stet({ apiKey: KEY, baseUrl: server.url, projectId: 1, fetch: recordFetch(file) })
  await recording.prompts.run('a/b', { stream: false, parameters: { tone: 'kind', topic: 'x' } })
  await recording.me()

  const miss = await messageOf(
    replaying(file).prompts.run('a/b', { stream: false, parameters: { tone: 'rude', topic: 'x' } }),
  )
  expect(miss).toContain('has no recording of POST /api/v3/projects/1/versions/live/documents/run')
  expect(miss).toMatch(/^- {5}"tone": "kind",$/m)
  expect(miss).toMatch(/^\+ {5}"tone": "rude",$/m)
  expect(miss).toMatch(/^ {6}"topic": "x"$/m)
  expect(miss).not.toContain('/me')
})

it('plays each recording once', async () => {
  const file = cassetteFile()
  const server = await localServer(json(['first']), json(['second']))
  const recording = new Stet({ apiKey: KEY, baseUrl: server.url, projectId: 1, fetch: recordFetch(file) })
  await recording.prompts.list()
  await recording.prompts.list()
  const stet = replaying(file)
  expect([await stet.prompts.list(), await stet.prompts.list()]).toEqual([['first'], ['second']])
  expect(await messageOf(stet.prompts.list())).toContain('2 times, and all of them were replayed')
})

it('records no secret', async () => {
  const file = cassetteFile()
  const args = { access_token: 'event-secret-1', headers: { 'x-own': 'event-secret-2' } }
  const streamed = runEvents(['Your key is stet_abcdefghijk.'])
  streamed.splice(4, 0, ['provider-event', { type: 'tool-call', toolCallId: 'call_1', toolName: 'fetch', args }])
  const server = await localServer(
    json({ id: 1, key: 'stet_freshly_issued_key' }),
    json({ id: 1, token: 'sk-…1234', name: 'openai' }),
    json({ message: `The key ${KEY} is known`, note: 'Bearer abcdefgh12345' }),
    events(frames(streamed)),
  )
  const recording = new Stet({ apiKey: KEY, baseUrl: server.url, projectId: 1, fetch: recordFetch(file) })
  await recording.apiKeys.create({ name: 'web' })
  await recording.providerKeys.create({ name: 'openai', provider: 'openai', token: 'provider-token-1' })
  await recording.me()
  await recording.prompts.run('a/b', {
    mcpHeaders: { server: { authorization: 'mcp-secret-1', 'x-own': 'mcp-secret-2' } },
  })
  const text = await recordings(file, 4)
  for (const secret of [
    KEY,
    'freshly',
    'provider-token-1',
    'sk-',
    'abcdefgh12345',
    'mcp-secret',
    'event-secret',
    'stet_abc',
    'idempotency',
  ]) {
    expect(text.toLowerCase()).not.toContain(secret.toLowerCase())
  }
  // A request that contains a secret still matches its recording.
  expect(
    await replaying(file).providerKeys.create({ name: 'openai', provider: 'openai', token: 'another' }),
  ).toMatchObject({ name: 'openai' })
})

it('does not delay a stream, and records what arrived before the reader left', async () => {
  const file = cassetteFile()
  const server = await localServer(openEvents(frames(runEvents(['Hel', 'lo']).slice(0, 5))))
  const recording = new Stet({ apiKey: KEY, baseUrl: server.url, projectId: 1, fetch: recordFetch(file) })
  const stream = recording.prompts.stream('a/b')
  for await (const text of stream.textStream) {
    expect(text).toBe('Hel')
    break
  }
  stream.detach()
  expect(await recordings(file, 1)).toContain('Hel')
})

it('rejects a missing or invalid cassette on replay', async () => {
  const file = cassetteFile()
  expect(await messageOf(replaying(file, 'replay').me())).toContain('There is no cassette')
  const server = await localServer(json({}))
  await new Stet({ apiKey: KEY, baseUrl: server.url, fetch: recordFetch(file) }).me()
  expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(1)
  await new Stet({ apiKey: KEY, baseUrl: server.url, fetch: recordFetch(file, { mode: 'record' }) }).me()
  expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(1)
})
