import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database, DatabaseClient } from '../../src/adapters/database/database.ts'
import { postgresProviderKeyStore } from '../../src/adapters/database/stores/provider-key-store.ts'
import { createLiveCache } from '../../src/adapters/in-process/live-cache.ts'
import { priceBook } from '../../src/adapters/prices/price-book.ts'
import { demoDriver } from '../../src/adapters/providers/demo/driver.ts'
import { addressGuard } from '../../src/adapters/providers/transport/address-guard.ts'
import { secretBox } from '../../src/adapters/secrets/secret-box.ts'
import type { Stores } from '../../src/features/deps.ts'
import {
  environmentProviders,
  listProviderKeys,
  listProviders,
  type ProviderEntry,
} from '../../src/features/providers/list-providers.ts'
import type { ProviderSettings } from '../../src/features/providers/model-driver.ts'
import type { ResolvedProviders } from '../../src/features/providers/ports.ts'
import { maskToken } from '../../src/features/providers/provider-key.ts'
import {
  chooseModel,
  chooseProvider,
  matchProvider,
  openProviderKey,
  resolveProvider,
} from '../../src/features/providers/resolve-provider.ts'
import {
  createProviderKey,
  deleteProviderKey,
  updateProviderKey,
} from '../../src/features/providers/save-provider-key.ts'
import { openTestDatabase, silent } from '../support/database-open.ts'
import { providerAt } from '../support/model-request.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

let files: TestDatabase
let database: Database<DatabaseClient>
beforeAll(async () => {
  files = await testDatabase()
  database = await openTestDatabase(files)
})
afterAll(async () => {
  await database.close()
  await files.close()
})

const since = new Date('2026-01-02T03:00:00Z')
const environment = (demoProvider = true) =>
  environmentProviders({
    openaiApiKey: 'sk-environment-1234',
    openaiBaseUrl: undefined,
    anthropicApiKey: undefined,
    anthropicBaseUrl: undefined,
    demoProvider,
    defaultProvider: undefined,
    defaultModel: undefined,
    since,
  })

let now = since
const logged: string[] = []
const opened = (entry: ProviderEntry | undefined): ProviderSettings => {
  if (!entry) throw new Error('There is no such provider')
  return 'sealedToken' in entry.key ? openProviderKey(deps, entry.key) : entry.key
}
const resolved = (entry: ProviderEntry | undefined) => entry && resolveProvider(deps, entry)
function depsOf() {
  return {
    // The provider use cases use no other store.
    stores: { providerKeys: postgresProviderKeyStore(database.client) } as Stores,
    transaction: <T>(work: (stores: Stores) => Promise<T>) =>
      database.transaction((client) => work({ providerKeys: postgresProviderKeyStore(client) } as Stores)),
    liveCache: createLiveCache(),
    providers: {
      resolved: new LRUCache({ max: 10 }) as ResolvedProviders,
      drivers: { driverFor: demoDriver },
      prices: priceBook(),
      addressGuard: addressGuard({ allowedPrivateHosts: ['ollama.lan'] }),
      testLimitMs: 20_000,
      environment: environment(),
    },
    secrets: secretBox([randomBytes(32).toString('base64')]),
    clock: { now: () => now },
    logger: {
      ...silent,
      error: (event: string) => void logged.push(event),
      warn: (event: string) => void logged.push(event),
      info: (event: string) => void logged.push(event),
    },
  }
}

let deps: ReturnType<typeof depsOf>
let workspaceId: number
beforeEach(async () => {
  deps = depsOf()
  workspaceId = (await database.client.workspace.create({ data: { name: 'w' } })).id
})
const save = (more = {}) =>
  createProviderKey(deps, {
    workspaceId,
    apiKeyId: 7,
    name: 'Groq',
    provider: 'groq',
    token: 'gsk-0123456789abcdef',
    ...more,
  })
const names = async () => (await listProviderKeys(deps, { workspaceId })).map(({ id, name }) => [id > 0, name])

describe('stored provider keys', () => {
  it('have an encrypted and masked token', async () => {
    const key = await save()
    expect(key).toMatchObject({
      name: 'Groq',
      provider: 'groq',
      maskedToken: 'gsk********cdef',
      url: null,
      configuration: {},
      lastUsedAt: null,
    })
    const row = await database.client.providerKey.findFirstOrThrow({ where: { id: key.id } })
    expect(JSON.stringify(row)).not.toContain('0123456789')
  })

  it('write an audit line, and a warning if their token is sent unencrypted', async () => {
    logged.length = 0
    await save({ url: 'http://ollama.lan/v1' })
    expect(logged).toEqual(['audit.provider-key-saved'])
    await save({ name: 'Second', url: 'http://198.41.0.4/v1' })
    expect(logged).toContain('provider-key.plain-http')
  })

  it('have unique names, ignoring case, in their workspace', async () => {
    await save()
    await expect(save({ name: 'GROQ' })).rejects.toMatchObject({ code: 'ConflictError' })
    const other = await database.client.workspace.create({ data: { name: 'other' } })
    await expect(save({ workspaceId: other.id })).resolves.toBeDefined()
  })

  it.each([
    [{ provider: 'custom' }],
    [{ url: 'http://127.0.0.1:1/v1' }],
    [{ url: 'ftp://ollama.lan/' }],
    [{ token: 'with space' }],
    [{ token: 'line\nend' }],
    [{ configuration: { endpoint: 'other' } }],
    [{ configuration: { prices: [{ model: 'x', input: -1, output: 1 }] } }],
    [{ configuration: { prices: {} } }],
    [{ configuration: { resourceName: 'evil.test/x' } }],
    [{ configuration: { apiVersion: 1 } }],
    [{ configuration: { streamOptions: 'no' } }],
    [{ configuration: { baseUrl: 'http://10.0.0.1/openai' } }],
  ])('refuse %j and store nothing', async (more) => {
    await expect(save(more)).rejects.toMatchObject({
      code: 'BadRequestError',
      details: { issues: [expect.anything()] },
    })
    expect(await deps.stores.providerKeys.list(workspaceId)).toEqual([])
  })

  it('can be changed and deleted; the next list shows it', async () => {
    const key = await save()
    const before = await listProviders(deps, workspaceId)
    await updateProviderKey(deps, {
      workspaceId,
      apiKeyId: 7,
      id: key.id,
      token: 'other-0123456789',
      url: 'http://ollama.lan/v1',
    })
    const [entry] = await listProviders(deps, workspaceId)
    expect(opened(before[0]).token).toBe('gsk-0123456789abcdef')
    expect(opened(entry)).toMatchObject({
      name: 'Groq',
      token: 'other-0123456789',
      url: 'http://ollama.lan/v1',
      trustedAddress: false,
    })
    expect(await deleteProviderKey(deps, { workspaceId, apiKeyId: 7, id: key.id })).toMatchObject({ name: 'Groq' })
    expect((await listProviders(deps, workspaceId)).map(({ name }) => name)).toEqual(['openai', 'demo'])
  })

  it.each([
    ['url', { url: 'http://ollama.lan/v1' }],
    ['configuration.baseUrl', { configuration: { baseUrl: 'http://ollama.lan/openai' } }],
    ['configuration.resourceName', { configuration: { resourceName: 'evil' } }],
    ['removed resourceName', { configuration: {} }],
  ])('require the token again for a new address: %s', async (_field, change) => {
    const azure = { provider: 'azure', url: 'http://ollama.lan/old', configuration: { resourceName: 'acme' } }
    const { id } = await save(azure)
    const update = (more: object) => updateProviderKey(deps, { workspaceId, apiKeyId: 7, id, ...more })
    await expect(update(change)).rejects.toMatchObject({
      reason: 'invalid-body',
      details: { issues: [{ path: ['token'], code: 'custom' }] },
    })
    const [entry] = await listProviders(deps, workspaceId)
    expect(opened(entry)).toMatchObject({ url: azure.url, configuration: azure.configuration })
    expect(await update({ ...change, token: 'gsk-again-0123456789' })).toMatchObject(change)
  })

  it('keep their token if the address does not change', async () => {
    const { id } = await save({ url: 'http://ollama.lan/v1', configuration: { prices: [] } })
    const same = { name: 'Renamed', url: 'http://ollama.lan/v1', configuration: { apiVersion: '2024-10-21' } }
    await updateProviderKey(deps, { workspaceId, apiKeyId: 7, id, ...same })
    const [entry] = await listProviders(deps, workspaceId)
    expect(opened(entry)).toMatchObject({ name: 'Renamed', token: 'gsk-0123456789abcdef' })
  })

  it('are unknown in another workspace, and keys without a row cannot be changed', async () => {
    const key = await save()
    const other = await database.client.workspace.create({ data: { name: 'other' } })
    const unknown = { reason: 'unknown-provider-key' }
    await expect(
      updateProviderKey(deps, { workspaceId: other.id, apiKeyId: 7, id: key.id, name: 'x' }),
    ).rejects.toMatchObject(unknown)
    await expect(deleteProviderKey(deps, { workspaceId: other.id, apiKeyId: 7, id: key.id })).rejects.toMatchObject(
      unknown,
    )
    await expect(updateProviderKey(deps, { workspaceId, apiKeyId: 7, id: 0, name: 'x' })).rejects.toMatchObject({
      code: 'ConflictError',
    })
    await expect(deleteProviderKey(deps, { workspaceId, apiKeyId: 7, id: 0 })).rejects.toMatchObject({
      code: 'ConflictError',
    })
  })

  it('override an environment key with the same name', async () => {
    expect(await names()).toEqual([
      [false, 'demo'],
      [false, 'openai'],
    ])
    await save({ name: 'OpenAI' })
    expect(await names()).toEqual([
      [true, 'OpenAI'],
      [false, 'demo'],
    ])
    expect((await listProviders(deps, workspaceId)).map(({ name }) => name)).toEqual(['OpenAI', 'demo'])
  })
})

describe('using a provider key', () => {
  it('needs no statement with a warm cache, and records its use once a minute', async () => {
    const key = await save()
    const [entry] = await listProviders(deps, workspaceId)
    resolved(entry)
    const lastUsedAt = async () => (await deps.stores.providerKeys.findOptional(workspaceId, key.id))?.lastUsedAt
    await expect.poll(lastUsedAt).toEqual(since)
    const statements = database.statementCount()
    now = new Date(since.getTime() + 59_000)
    const [again] = await listProviders(deps, workspaceId)
    expect(resolved(again)).toBe(resolved(entry))
    expect(database.statementCount()).toBe(statements)
    now = new Date(since.getTime() + 61_000)
    resolved(entry)
    await expect.poll(lastUsedAt).toEqual(now)
  })

  it('of the environment is remembered until the server ends', async () => {
    const entries = await listProviders(deps, workspaceId)
    const lastUsedAt = async () =>
      Object.fromEntries((await listProviderKeys(deps, { workspaceId })).map((key) => [key.name, key.lastUsedAt]))
    expect(await lastUsedAt()).toEqual({ demo: null, openai: null })
    resolved(entries.find(({ name }) => name === 'openai'))
    expect(await lastUsedAt()).toEqual({ demo: null, openai: now })
  })

  it('fails if its token was altered or swapped with another row, without affecting other keys', async () => {
    const first = await save()
    const second = await save({ name: 'Second' })
    await deps.stores.providerKeys.update(workspaceId, first.id, { sealedToken: second.sealedToken })
    deps.liveCache.drop(`workspace:${workspaceId}`)
    const entries = await listProviders(deps, workspaceId)
    const failure = { code: 'ai_provider_config_error', details: { provider: 'Groq' } }
    expect(() => opened(matchProvider(entries, 'Groq'))).toThrow(expect.objectContaining(failure))
    expect(logged).toContain('provider-key.unreadable')
    expect(opened(matchProvider(entries, 'Second')).token).toBe('gsk-0123456789abcdef')
  })
})

describe('choosing a provider key', () => {
  const entry = (name: string, more: Partial<ProviderEntry> = {}): ProviderEntry => ({
    name,
    kind: 'custom',
    defaultModel: null,
    isDemo: name === 'demo',
    key: providerAt(null, { name }),
    revision: name,
    ...more,
  })
  const three = [entry('OpenAI'), entry('Groq'), entry('demo')]

  it('prefers the exact name, then ignores case if one key matches', () => {
    expect(chooseProvider(three, { named: 'openai' }).name).toBe('OpenAI')
    expect(matchProvider([entry('a'), entry('A')], 'A')?.name).toBe('A')
    expect(matchProvider([entry('ab'), entry('Ab')], 'AB')).toBeUndefined()
  })

  it('lists the configured keys if none matches', () => {
    const failure = {
      code: 'missing_provider_error',
      details: { provider: 'x', configured: ['OpenAI', 'Groq', 'demo'] },
    }
    expect(() => chooseProvider(three, { named: 'x', projectDefault: 'Groq' })).toThrow(
      expect.objectContaining(failure),
    )
  })

  it('falls back to the defaults of project and server, then the only key, then demo', () => {
    expect(chooseProvider(three, { projectDefault: 'groq', serverDefault: 'OpenAI' }).name).toBe('Groq')
    expect(chooseProvider(three, { projectDefault: null, serverDefault: 'OpenAI' }).name).toBe('OpenAI')
    expect(chooseProvider([entry('Groq'), entry('demo')], {}).name).toBe('Groq')
    expect(chooseProvider([entry('demo')], {}).name).toBe('demo')
    const failure = { code: 'document_config_error', details: { key: 'provider' } }
    expect(() => chooseProvider(three, {})).toThrow(expect.objectContaining(failure))
    expect(() => chooseProvider([], {})).toThrow(expect.objectContaining(failure))
  })

  it('selects the model of prompt, project, key or server, in this order', () => {
    const own = entry('a', { defaultModel: 'entry' })
    expect(chooseModel(own, { named: 'prompt', projectDefault: 'project' })).toBe('prompt')
    expect(chooseModel(own, { projectDefault: 'project', serverDefault: 'server' })).toBe('project')
    expect(chooseModel(own, { projectDefault: null, serverDefault: 'server' })).toBe('entry')
    expect(chooseModel(entry('a'), { serverDefault: 'server' })).toBe('server')
    expect(() => chooseModel(entry('a'), {})).toThrow(
      expect.objectContaining({ code: 'document_config_error', details: { key: 'model' } }),
    )
  })
})

describe('masked tokens', () => {
  it.each([
    ['', ''],
    ['123456789012345', '***************'],
    ['1234567890123456', '123********3456'],
  ])('masks %j', (token, masked) => {
    expect(maskToken(token)).toBe(masked)
  })

  it('exist for environment keys', async () => {
    const listed = await listProviderKeys(
      { ...deps, providers: { ...deps.providers, environment: environment(false) } },
      { workspaceId },
    )
    expect(listed).toEqual([
      {
        id: 0,
        name: 'openai',
        provider: 'openai',
        maskedToken: 'sk-********1234',
        url: null,
        defaultModel: null,
        configuration: {},
        createdAt: since,
        updatedAt: since,
        lastUsedAt: null,
      },
    ])
  })
})

it('creates a provider key for each key in the environment, with its address', () => {
  const base = { demoProvider: false, defaultProvider: undefined, defaultModel: undefined, since }
  const keys = { openaiApiKey: undefined, openaiBaseUrl: 'http://unused.test', anthropicApiKey: 'sk-ant' }
  const address = 'http://127.0.0.1:9/anthropic'
  expect(environmentProviders({ ...base, ...keys, anthropicBaseUrl: address }).list).toMatchObject([
    { name: 'anthropic', kind: 'anthropic', token: 'sk-ant', url: address, trustedAddress: true },
  ])
  expect(environmentProviders({ ...base, ...keys, anthropicBaseUrl: undefined }).list).toMatchObject([
    { url: null, trustedAddress: false },
  ])
})
