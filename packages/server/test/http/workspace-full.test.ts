/** A workspace above `STET_WORKSPACE_MAX_MB`, which is 1 MB here. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { measureStorage } from '../../src/features/access/workspace-storage.ts'
import { callTool, mcpCaller } from '../mcp/mcp-call.ts'
import { prompt, type RunBench, record, runBench } from '../runs/run-bench.ts'
import { type ApiAnswer, apiCaller, httpCall } from './api-call.ts'
import { contractRoutes } from './contract-routes.ts'
import { createTestProject, issueKey, openTenant } from './scenario.ts'

const prompts = {
  hello: prompt('<user>Hi</user>', 'maxRetries: 0\n'),
  described: prompt('<user>Hi</user>', 'description: Says hi\n'),
  tools: prompt('<user>Weather?</user>', 'tools:\n  - get_weather: { parameters: { type: object } }\n'),
}
const megabyte = 1_048_576
let bench: RunBench

const openBench = (environment: Record<string, string> = { STET_WORKSPACE_MAX_MB: '1' }) =>
  runBench(prompts, environment)
beforeEach(async () => {
  bench ??= await openBench()
  await emptied()
})
afterAll(() => bench.close())

/** Text that the database cannot compress. */
const noise = (bytes: number) => randomBytes(bytes / 2).toString('hex')
const log = (bytes: number, more: object = {}) =>
  bench.api('POST', `${bench.live}/documents/logs`, {
    body: { path: 'hello', messages: [{ role: 'user', content: noise(bytes) }], ...more },
  })
const measure = () => measureStorage(bench.server.deps)
const storedBytes = () => bench.server.deps.storage?.use.totalBytes() ?? Number.NaN
const isFull = async () => (await bench.api('POST', '/projects', { body: { name: 'more' } })).status === 429

/** Deletes everything that a test has stored. */
async function emptied(): Promise<void> {
  const { session } = bench.server.database
  for (const table of ['tool_call', 'log_entry', 'run', 'idempotency_record', 'conversation'])
    await session.query(`DELETE FROM ${table}`)
  await measure()
}

/** Hexadecimal text has half a byte of entropy for each character, and the database stores it uncompressed. */
async function fill(): Promise<ApiAnswer> {
  const filled = await log(1.2 * megabyte)
  expect(filled.status, filled.text).toBe(200)
  await measure()
  return filled
}

it('refuses what would store more, before any work, and says how much is stored', async () => {
  await fill()
  const calls = bench.fake.requests.length
  const refused = await bench.run('hello')
  expect(refused).toMatchObject({
    status: 429,
    body: {
      name: 'RateLimitError',
      reason: 'workspace-full',
      message: 'The workspace is full: it may store 1 MB and stores about 2 MB',
      details: { limitMb: 1, storedMb: 2, retryAfter: 60 },
    },
  })
  // A client that waits would wait in vain.
  expect(refused.headers.get('x-should-retry')).toBe('false')
  expect((await bench.run('hello', { background: true })).status).toBe(429)
  expect((await log(10)).status).toBe(429)
  expect(bench.fake.requests).toHaveLength(calls)
})

it('accepts reads, settings, reverts, deletions and erasures, and after them writes again', async () => {
  const filled = await fill()
  const conversation = `/conversations/${String(filled.body['uuid'])}`
  expect((await bench.api('GET', conversation)).status).toBe(200)
  expect((await bench.api('POST', `${bench.live}/documents/check`, { body: { path: 'hello' } })).status).toBe(200)
  const project = bench.live.slice(0, bench.live.indexOf('/versions'))
  expect((await bench.api('PUT', project, { body: { retentionDays: 1 } })).status).toBe(200)
  expect((await bench.api('DELETE', '/conversations?customIdentifier=nobody')).status).toBeLessThan(300)
  expect((await bench.api('DELETE', conversation)).status).toBe(200)
  // Purged last of all tables.
  const left = async () => (await bench.server.database.session.query('SELECT 1 FROM conversation')).rows.length
  await expect.poll(left).toBe(0)
  await measure()
  expect((await log(10)).status).toBe(200)
})

it('refuses runs and writes of the other doors, and lets them read and stop', async () => {
  const projectId = Number(/projects\/(\d+)/.exec(bench.live)?.[1])
  const scopes = ['read', 'run', 'write']
  const key = await issueKey(bench.api, { scopes, projectId, plan: 'custom', limit: 10_000 })
  const mcp = mcpCaller(bench.server.url, key)
  const tool = async (name: string, args: object) => {
    const { isError, texts } = await callTool(mcp, name, { ...args })
    return isError ? texts[0]?.split(':')[0] : 'ok'
  }
  const unknown = '00000000-0000-4000-8000-000000000000'
  const door = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}` }
    const { status } = await httpCall(method, `${bench.server.url}/v1${path}`, { headers, ...(body && { body }) })
    return status
  }
  await fill()
  const calls = bench.fake.requests.length
  for (const path of ['/chat/completions', '/responses']) expect(await door('POST', path, { model: 'hello' })).toBe(429)
  expect(await door('GET', '/models')).toBe(200)
  expect(await door('POST', `/responses/resp_${'0'.repeat(32)}/cancel`)).toBe(404)
  expect(await tool('stet_run_prompt', { path: 'hello' })).toBe('RateLimitError')
  expect(await tool('described', {})).toBe('RateLimitError')
  expect(await tool('stet_create_draft', { name: 'more' })).toBe('RateLimitError')
  expect(await tool('stet_list_prompts', {})).toBe('ok')
  expect(await tool('stet_stop_run', { uuid: unknown })).toBe('NotFoundError')
  expect(bench.fake.requests).toHaveLength(calls)
  // Until the next measurement, arguments count as what they may store.
  await emptied()
  expect(await tool('stet_run_prompt', { path: 'hello', parameters: { a: noise(1.2 * megabyte) } })).toBe('ok')
  expect(await tool('stet_create_draft', { name: 'more' })).toBe('RateLimitError')
})

it('names every route that stores', () => {
  const refusing = contractRoutes.filter(({ causes }) => causes.includes('workspace-full')).map(({ name }) => name)
  expect(refusing).toEqual([
    ...['apiKeys.create', 'projects.create', 'versions.create', 'versions.publish', 'versions.push'],
    ...[
      'versions.updateFromEnvironment',
      'versions.import',
      'documents.create',
      'documents.getOrCreate',
      'documents.createOrUpdate',
      'documents.move',
    ],
    ...[
      'runs.run',
      'runs.chat',
      'conversations.update',
      'conversations.feedback',
      'evaluations.create',
      'evaluations.update',
      'evaluations.annotate',
      'examples.create',
      'examples.batch',
      'examples.fromRuns',
      'examples.update',
      'experiments.create',
      'experiments.resume',
      'experiments.scores',
    ],
    ...['logs.create', 'providerApiKeys.create'],
  ])
})

it('lets a run under way end, with tool results, attach and stop, and stores its end', async () => {
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  bench.fake.enqueue({ text: 'Paid for', gate })
  const paid = await bench.open('hello')
  bench.fake.enqueue({ toolCalls: [{ id: 'a', name: 'get_weather', arguments: {} }] })
  const waiting = bench.stream('tools', { tools: ['get_weather'] })
  const calls = async () => (await bench.server.database.session.query('SELECT id FROM tool_call')).rows
  await expect.poll(calls).toHaveLength(1)
  await fill()
  const conversation = String(paid.headers.get('x-conversation-uuid'))
  const attached = bench.streamAttach(conversation)
  release()
  expect((await record(paid)).types.at(-1)).toBe('chain-completed')
  expect((await attached).types.at(-1)).toBe('chain-completed')
  expect(JSON.stringify(await bench.conversation(conversation))).toContain('Paid for')
  bench.fake.enqueue({ text: 'Sunny' })
  const [call] = await calls()
  const result = { toolCallId: call?.['id'], result: 'warm' }
  expect((await bench.api('POST', '/tools/results', { body: result })).status).toBe(200)
  expect((await waiting).types.at(-1)).toBe('chain-completed')
  expect((await bench.stop(conversation)).status).toBe(200)
})

it('counts large bodies, many small bodies and the results of runs before they are measured', async () => {
  await log(1.2 * megabyte)
  expect(await isFull()).toBe(true)
  await emptied()
  expect(await isFull()).toBe(false)
  for (let sent = 0; sent < 45; sent += 1) await log(30_000)
  expect(await isFull()).toBe(true)
  await emptied()
  bench.fake.enqueue({ text: noise(1.2 * megabyte) })
  expect((await bench.run('hello')).status).toBe(200)
  expect(await isFull()).toBe(true)
  await emptied()
  // Rendering a prompt or checking one stores nothing.
  const check = { path: 'hello', messages: [{ role: 'user', content: noise(2 * megabyte) }] }
  await bench.api('POST', `${bench.live}/documents/check`, { body: check })
  expect(await isFull()).toBe(false)
})

it('measures each workspace by itself, in statements of few pages', async () => {
  const other = apiCaller(bench.server.url, await openTenant(bench.server, 'other'))
  await createTestProject(other, { hello: noise(200_000) })
  for (let made = 0; made < 60; made += 1) await log(1_000)
  await fill()
  expect(await isFull()).toBe(true)
  expect((await other('POST', '/projects', { body: { name: 'room' } })).status).toBe(201)
  await measure()
  const whole = storedBytes()
  expect(whole).toBeGreaterThan(1.4 * megabyte)
  expect(whole).toBeLessThan(1.7 * megabyte)
  const before = bench.server.database.statementCount()
  await measureStorage(bench.server.deps, { pages: 1 })
  expect(storedBytes()).toBe(whole)
  expect(bench.server.database.statementCount()).toBe(before)
  const text = await (await fetch(`${bench.server.url}/metrics`)).text()
  expect(text).toContain(`stet_stored_bytes ${whole}`)
})

it('keeps what was added while a measurement ran, and the last sums if one fails', async () => {
  const { storage } = bench.server.deps
  if (!storage) throw new Error('The server has no limit')
  const failed = storage.use.replace(async () => {
    storage.use.add(1, 2 * megabyte)
    throw new Error('no connection')
  })
  await expect(failed).rejects.toThrow('no connection')
  expect(await isFull()).toBe(true)
  await storage.use.replace(async () => {
    storage.use.add(1, 2 * megabyte)
    return new Map()
  })
  expect(await isFull()).toBe(true)
  await measure()
  expect(await isFull()).toBe(false)
})

it('measures the texts that forced edits keep, the reasons of releases, and what examples expect', async () => {
  const grown = async (work: () => Promise<ApiAnswer>) => {
    await measure()
    const before = storedBytes()
    const { status, text } = await work()
    expect(status, text).toBe(200)
    await measure()
    return storedBytes() - before
  }
  const edit = (content: string) => () =>
    bench.api('POST', `${bench.live}/documents/create-or-update`, {
      body: { path: 'hello', prompt: content, force: true },
    })
  // The document and the record of the edit have the new text; afterwards two records have it.
  expect(await grown(edit(noise(200_000)))).toBeGreaterThan(400_000)
  expect(await grown(edit(prompts.hello))).toBeGreaterThan(-1_000)
  const versions = bench.live.slice(0, bench.live.lastIndexOf('/'))
  const made = await bench.api('POST', versions, { body: { name: 'reasoned' } })
  const publish = () =>
    bench.api('POST', `${versions}/${String(made.body['uuid'])}/publish`, { body: { reason: noise(1_000) } })
  expect(await grown(publish)).toBeGreaterThan(1_000)
  const documentUuid = (await bench.api('GET', `${bench.live}/documents/hello`)).body['uuid']
  const project = bench.live.slice(0, bench.live.indexOf('/versions'))
  const row = { name: 'row', expected: noise(50_000), toolResults: { find: [{ result: noise(50_000) }] } }
  const save = () => bench.api('POST', `${project}/examples/batch`, { body: { documentUuid, changes: [row] } })
  expect(await grown(save)).toBeGreaterThan(100_000)
})
