import * as contract from '@stet/contract'
import { listConsoleRoutes, listRoutes, operatorRoutes, RunEvent, RunResult } from '@stet/contract'
import { sampleOf } from '@stet/contract/samples'
import { describe, expect, it } from 'vitest'
import { Stet } from '../src/index.ts'
import { laterOperations } from '../src/later-operations.ts'
import { operations as coreOperations, type OperationName } from '../src/operations.ts'
import { frames, result, runEvents } from './support/sample-run.ts'

interface Schema {
  safeParse(value: unknown): { success: boolean; data?: unknown; error?: unknown }
}
interface ContractRoute {
  method: string
  path: string
  body?: Schema
  query?: Schema
  responses: Record<number, unknown>
}

const operations = { ...coreOperations, ...laterOperations }

/** Operations outside the contract and the API prefix. They need no API key. */
const OUTSIDE = { health: operatorRoutes.health.path }
/** Sign-in of the console, which the page and the command line call themselves. */
const EXCEPTED = [
  'POST /console/session',
  'GET /console/session',
  'DELETE /console/session',
  'GET /console/sessions',
  'DELETE /console/sessions/:id',
  'POST /console/links',
]
type InContract = Exclude<OperationName, keyof typeof OUTSIDE>

const placeOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const routes = new Map(listRoutes().map(({ route, metadata }) => [placeOf(route), { ...route, metadata }]))
const routeOf = (name: OperationName) => {
  const found = routes.get(placeOf(operations[name]))
  return found as typeof found & ContractRoute
}

describe('routes', () => {
  it.each(Object.entries(operations))('%s has the path of the contract', (name, { method, path }) => {
    if (name in OUTSIDE) return expect(path).toBe(OUTSIDE.health)
    expect(routeOf(name as InContract)).toMatchObject({ method, path })
  })

  it('every contract route has an operation', () => {
    const { health: _outside, ...inContract } = operations
    expect(Object.values(inContract).map(placeOf).sort()).toEqual([...routes.keys()].sort())
  })

  it('only the sign-in of the console is left out', () => {
    expect(listConsoleRoutes().map(({ route }) => placeOf(route))).toEqual(EXCEPTED)
  })

  it.each(Object.entries(operations))('%s is retried only if repeating it is safe', (name, route) => {
    const { retry } = route
    // A repeated tool result is ignored, because the first one counts. A draft is restored once. The others only read.
    const reads = ['runs.attach', 'prompts.check', 'prompts.merge']
    const isHarmless = ['runs.toolResult', 'versions.restore', ...reads].includes(name)
    if (route.method !== 'POST' || isHarmless) return expect(retry).toBe(true)
    const { idempotent } = routeOf(name as InContract)?.metadata ?? {}
    expect(retry).toBe(idempotent === true ? 'keyed' : false)
  })
})

const U = '3f0c5a3e-6f0e-4a53-9d3c-0a1b2c3d4e5f'
const AT = '2026-01-02T03:04:05.678Z'
const HASH = 'a'.repeat(64)
const messages = [{ role: 'user' as const, content: 'Hello' }]

/** Client options, which are never sent. */
const ownConcerns = { timeout: 5000, maxRetries: 0, headers: {}, idleTimeout: 5000, bufferEvents: true, onText() {} }

const calls: Record<OperationName, (stet: Stet) => unknown> = {
  me: (stet) => stet.me(),
  health: (stet) => stet.health(),
  'projects.list': (stet) => stet.projects.list(),
  'projects.create': (stet) =>
    stet.projects.create('Support', { defaultProvider: 'openai', defaultModel: 'm', retentionDays: 9 }),
  'projects.update': (stet) =>
    stet.projects.update(3, { name: 'Help', defaultProvider: '', defaultModel: '', retentionDays: 9 }),
  'projects.delete': (stet) => stet.projects.delete(3, { name: 'Help' }),
  'projects.stats': (stet) =>
    stet.projects.stats(3, { from: AT, to: AT, by: 'model', documentUuid: U, via: 'all', top: 3 }),
  'projects.tags': (stet) => stet.projects.tags(),
  'projects.gates': (stet) => stet.projects.gates(),
  'projects.setGates': (stet) =>
    stet.projects.setGates({ mode: 'block', gates: [{ path: '*', evaluations: ['Checks'], minRows: 9 }] }),
  'versions.list': (stet) => stet.versions.list({ status: 'draft' }),
  'versions.get': (stet) => stet.versions.get(U),
  'versions.create': (stet) =>
    stet.versions.create('draft', {
      reuse: true,
      replace: true,
      changes: [{ path: 'a', status: 'added', content: 'x', baseHash: '' }],
      publish: { title: 't' },
    }),
  'versions.update': (stet) => stet.versions.update(U, { name: 'x', description: 'd' }),
  'versions.delete': (stet) => stet.versions.delete(U),
  'versions.restore': (stet) => stet.versions.restore(U),
  'versions.publish': (stet) => stet.versions.publish(U, { title: 't', description: 'd', force: true, merge: true }),
  'versions.push': (stet) =>
    stet.versions.push(U, [
      { path: 'a', status: 'added', content: 'x', contentHash: HASH, baseHash: '', liveHash: '' },
      { path: 'b', status: 'deleted', baseHash: HASH, liveHash: HASH },
    ]),
  'versions.updateFromEnvironment': (stet) => stet.versions.updateFromEnvironment(U, { paths: ['a'] }),
  'versions.revert': (stet) => stet.versions.revert(U, { paths: ['a'] }),
  'versions.diff': (stet) => stet.versions.diff(U, { base: 'live' }),
  'versions.tree': (stet) => stet.versions.tree(U),
  'versions.checks': (stet) => stet.versions.checks(U, { block: 'configuration' }),
  'versions.import': (stet) =>
    stet.versions.import(U, { uuid: U, title: 'x', authorName: 'Ada', createdAt: AT, mergedAt: AT }),
  'environments.releases': (stet) => stet.environments.releases('live', { cursor: '9', limit: 5 }),
  'environments.rollback': (stet) => stet.environments.rollback('live', { to: 3, reason: 'r', expectedVersionUuid: U }),
  'prompts.list': (stet) => stet.prompts.list({ prefix: 'a/' }),
  'prompts.create': (stet) => stet.prompts.create('a', { prompt: 'x' }),
  'prompts.get': (stet) => stet.prompts.get('a/b'),
  'prompts.getOrCreate': (stet) => stet.prompts.getOrCreate('a', { prompt: 'x' }),
  'prompts.createOrUpdate': (stet) =>
    stet.prompts.createOrUpdate('a', { prompt: 'x', force: true, baseHash: HASH, liveHash: HASH }),
  'prompts.check': (stet) => stet.prompts.check('a/b', { prompt: 'Hello', parameters: { a: 1 } }),
  'prompts.merge': (stet) => stet.prompts.merge([{ path: 'a', prompt: 'x', baseHash: HASH, base: 'y' }]),
  'prompts.move': (stet) => stet.prompts.move('a/b', 'c', { baseHash: HASH }),
  'prompts.delete': (stet) => stet.prompts.delete('a/b'),
  'prompts.run': (stet) =>
    stet.prompts.run('a', {
      stream: false,
      parameters: { n: 1 },
      messages,
      userMessage: 'u',
      customIdentifier: 'c',
      tags: ['t'],
      overrides: { model: 'm', temperature: 0 },
      mcpHeaders: { x: { y: 'z' } },
      ...ownConcerns,
    }),
  'runs.list': (stet) =>
    stet.runs.list({ status: ['error', 'stopped'], via: 'api', author: 'me', tag: 't', minCost: 0.5, limit: 5 }),
  'runs.get': (stet) => stet.runs.get(U),
  'runs.ofConversation': (stet) => stet.runs.ofConversation(U),
  'conversations.list': (stet) =>
    stet.conversations.list({
      versionUuid: U,
      documentUuid: U,
      path: 'a',
      status: 'completed',
      origin: 'log',
      customIdentifier: 'c',
      from: '2026-01-01T00:00:00.000Z',
      to: '2027-01-01T00:00:00.000Z',
      cursor: 'x',
      limit: 5,
    }),
  'conversations.get': (stet) => stet.conversations.get(U),
  'conversations.update': (stet) => stet.conversations.update(U, { tags: ['t'], note: 'n' }),
  'conversations.feedback': (stet) => stet.conversations.feedback(U, 'down', { comment: 'c', by: 'b' }),
  'conversations.delete': (stet) => stet.conversations.delete(U),
  'conversations.erase': (stet) => stet.conversations.erase('customer-7', { projectId: 3 }),
  'runs.attach': (stet) => stet.runs.attach(U, { stream: false }),
  'runs.stop': (stet) => stet.runs.stop(U),
  'conversations.chat': (stet) => stet.prompts.chat(U, messages, { stream: false, mcpHeaders: {}, ...ownConcerns }),
  'evaluations.create': (stet) =>
    stet.evaluations.create({
      documentUuid: U,
      name: 'n',
      description: 'd',
      metric: 'rating',
      configuration: { reverseScale: true, minRating: 0, maxRating: 10, minThreshold: 1, maxThreshold: 9 },
      type: 'human',
    }),
  'evaluations.list': (stet) => stet.evaluations.list({ documentUuid: U, archived: true }),
  'evaluations.update': (stet) => stet.evaluations.update(U, { archived: true }),
  'evaluations.get': (stet) => stet.evaluations.get(U),
  'evaluations.agreement': (stet) => stet.evaluations.agreement(U, { judge: HASH }),
  'evaluations.queue': (stet) => stet.evaluations.queue(U, { tag: 't', from: AT, limit: 5, cursor: 'c' }),
  'evaluations.annotate': (stet) =>
    stet.conversations.annotate(U, 1, U, { reason: 'r', metadata: { a: 1 }, versionUuid: U }),
  'evaluations.removeLabel': (stet) => stet.evaluations.removeLabel(U, U),
  'conversations.annotations': (stet) => stet.conversations.annotations(U, { states: 'all' }),
  'examples.list': (stet) => stet.examples.list(U, { summary: true }),
  'examples.create': (stet) => stet.examples.create({ documentUuid: U, name: 'n', parameters: { n: 1 }, messages }),
  'examples.batch': (stet) => stet.examples.batch({ documentUuid: U, changes: [{ name: 'n' }], delete: [U] }),
  'examples.fromRuns': (stet) => stet.examples.fromRuns({ runs: [U], expected: 'answer' }),
  'examples.update': (stet) => stet.examples.update(U, { name: 'n', parameters: {}, messages }),
  'examples.delete': (stet) => stet.examples.delete(U),
  'experiments.create': (stet) =>
    stet.experiments.create({
      path: 'a',
      arms: [{ versionUuid: 'live', overrides: { model: 'm' }, label: 'l' }],
      tag: 't',
      examples: [U],
      trials: 2,
      evaluations: [U],
      concurrency: 2,
      budgetUsd: 1,
      maxRuns: 10,
      origin: { branch: 'b' },
    }),
  'experiments.list': (stet) => stet.experiments.list({ documentUuid: U, limit: 5 }),
  'experiments.get': (stet) => stet.experiments.get(U),
  'experiments.items': (stet) => stet.experiments.items(U, { arm: '1', filter: 'broke', evaluationUuid: U, limit: 5 }),
  'experiments.report': (stet) => stet.experiments.report(U, { evaluation: U }),
  'experiments.stop': (stet) => stet.experiments.stop(U),
  'experiments.resume': (stet) => stet.experiments.resume(U, { rows: 'new', budgetUsd: 1 }),
  'experiments.scores': (stet) =>
    stet.experiments.scores(U, [{ itemUuid: U, evaluation: 'a.eval.ts:b', passed: null }]),
  'logs.create': (stet) =>
    stet.logs.create('a', messages, {
      response: 'r',
      parameters: { n: 1 },
      customIdentifier: 'c',
      duration: 5,
    }),
  'providerKeys.list': (stet) => stet.providerKeys.list(),
  'providerKeys.get': (stet) => stet.providerKeys.get(4),
  'providerKeys.create': (stet) =>
    stet.providerKeys.create({
      name: 'n',
      provider: 'custom',
      token: 't',
      url: 'https://models.example.com/v1',
      defaultModel: 'm',
      configuration: { endpoint: 'responses' },
    }),
  'providerKeys.update': (stet) =>
    stet.providerKeys.update(4, {
      name: 'n',
      token: 't',
      url: 'https://a.example.com',
      defaultModel: 'm',
      configuration: {},
    }),
  'providerKeys.test': (stet) => stet.providerKeys.test({ name: 'n', model: 'm' }),
  'providers.list': (stet) => stet.providers.list(),
  'providerKeys.delete': (stet) => stet.providerKeys.delete(4),
  'apiKeys.list': (stet) => stet.apiKeys.list(),
  'apiKeys.create': (stet) =>
    stet.apiKeys.create({
      name: 'n',
      scopes: ['read', 'run'],
      projectId: 1,
      plan: 'custom',
      limit: 5,
      expiresAt: '2099-01-01T00:00:00.000Z',
    }),
  'apiKeys.rotate': (stet) => stet.apiKeys.rotate(5, { overlapSeconds: 60 }),
  'apiKeys.revoke': (stet) => stet.apiKeys.revoke(5),
  'runs.toolResult': (stet) => stet.runs.toolResult({ toolCallId: 'call_1', result: { sky: 'blue' }, isError: true }),
}

interface Sent {
  method: string
  url: URL
  body: unknown
}

async function record(
  call: (stet: Stet) => unknown,
  answer: unknown = {},
): Promise<{ sent: Sent[]; received: unknown }> {
  const sent: Sent[] = []
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
    sent.push({ method: init.method ?? '', url: new URL(String(url)), body })
    return Response.json(answer)
  }
  const received = await call(new Stet({ apiKey: 'k', projectId: 1, fetch, logLevel: 'off' }))
  return { sent, received }
}

describe('requests', () => {
  it.each(Object.entries(calls))('%s sends only what the contract accepts', async (name, call) => {
    const {
      sent: [sent, ...more],
    } = await record(call)
    expect(more).toEqual([])
    const { method, path } = operations[name as OperationName]
    const pattern = new RegExp(`${path.replace(/:path$/, '.+').replace(/:\w+/g, '[^/]+')}$`)
    expect(sent?.method).toBe(method)
    expect(sent?.url.pathname).toMatch(pattern)
    if (name in OUTSIDE) return
    const { body, query } = routeOf(name as InContract) ?? {}
    const given = [
      [body, sent?.body],
      [query, Object.fromEntries(sent?.url.searchParams ?? [])],
    ] as const
    for (const [schema, value] of given) {
      if (!schema?.safeParse) expect(value ?? {}).toEqual({})
      else expect(schema.safeParse(value)).toMatchObject({ success: true, data: keysOf(value) })
    }
  })
})

/** Replaces scalars. The contract may normalize values, but it must declare every key. */
function keysOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return expect.anything()
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, Array.isArray(entry) ? expect.any(Array) : keysOf(entry)]),
  )
}

const schemaNames = new Map(Object.entries(contract).map(([name, value]) => [value as unknown, name]))

/** The sample of an operation's response, which may be a list. */
function sampleFor(name: InContract): { isList: boolean; valid: unknown } {
  // A background run has a response of its own.
  if (name === 'prompts.run') return { isList: false, valid: sampleOf('RunResult')?.valid }
  const { 200: ok, 201: created = ok } = routeOf(name).responses
  const { element } = created as { element?: unknown }
  return { isList: element !== undefined, valid: sampleOf(schemaNames.get(element ?? created) ?? '')?.valid }
}

describe('responses', () => {
  const { health: _outside, ...inContract } = operations
  it.each(Object.keys(inContract) as InContract[])('%s returns its sample unchanged', async (name) => {
    const { isList, valid } = sampleFor(name)
    expect(valid).toBeTypeOf('object')
    const sample = isList ? [valid] : valid
    const { received } = await record(calls[name], sample)
    const added = name === 'prompts.get' ? { source: 'network', fetchedAt: expect.any(Number) } : {}
    // JSON drops a page's methods.
    expect(JSON.parse(JSON.stringify(received))).toEqual(isList ? sample : { ...(valid as object), ...added })
  })
})

it('a streamed run sends the same body, except for `stream`', async () => {
  const sent: unknown[] = []
  const fetch = async (_: unknown, init: RequestInit = {}) => {
    sent.push(JSON.parse(String(init.body)))
    return new Response(frames(runEvents(['x'])), { headers: { 'Content-Type': 'text/event-stream' } })
  }
  const stet = new Stet({ apiKey: 'k', projectId: 1, fetch, logLevel: 'off' })
  await expect(stet.prompts.run('a', { parameters: { n: 1 } })).resolves.toEqual(result('x'))
  const own = {
    tools: { find: () => 1 },
    toolMode: 'inline',
    maxToolRounds: 3,
    resume: true,
    onAbort: 'detach',
  } as const
  await expect(stet.prompts.run('a', own)).resolves.toMatchObject({ uuid: result('x').uuid })
  await expect(stet.prompts.chat(U, messages, own)).resolves.toMatchObject({ uuid: result('x').uuid })
  expect(sent).toEqual([
    { path: 'a', parameters: { n: 1 }, stream: true },
    { path: 'a', stream: true, tools: ['find'] },
    { messages, stream: true, tools: ['find'] },
  ])
  for (const [index, name] of (['prompts.run', 'prompts.run', 'conversations.chat'] as const).entries()) {
    const parsed = routeOf(name)?.body?.safeParse(sent[index])
    expect(parsed).toMatchObject({ success: true, data: keysOf(sent[index]) })
  }
})

describe('test events', () => {
  it('match the contract', () => {
    for (const [event, data] of runEvents(['x'], { object: { a: 1 } })) {
      expect(RunEvent.safeParse({ event, data })).toMatchObject({ success: true })
    }
    expect(RunResult.safeParse(result('x'))).toMatchObject({ success: true })
  })
})
