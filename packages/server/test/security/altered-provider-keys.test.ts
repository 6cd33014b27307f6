import { afterAll, beforeAll, expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { type ApiAnswer, apiCaller } from '../http/api-call.ts'
import { createTestProject, issueKey } from '../http/scenario.ts'
import { openTestDatabase } from '../support/database-open.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { processTestMs, type ServerProcess, settingsFor, startServer } from '../support/server-process.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

const tokens = {
  Flipped: 'sk-flipped-0123456789',
  Left: 'sk-left-0123456789',
  Right: 'sk-right-0123456789',
  Whole: 'sk-whole-0123456789',
}
const names = Object.keys(tokens)

let storage: TestDatabase
let fake: FakeProvider
let server: ServerProcess
beforeAll(async () => {
  storage = await testDatabase()
  fake = await fakeProvider()
})
afterAll(async () => {
  server?.child.kill('SIGKILL')
  await server?.ended
  await fake.close()
  await storage.close()
})

it(
  'fails a run before it sends anything if the provider key was altered or swapped with another row',
  async () => {
    const adminKey = generateApiKey()
    const environment = {
      ...settingsFor(storage),
      STET_LOG_LEVEL: 'debug',
      STET_ADMIN_KEY: adminKey,
      STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    }
    server = await startServer(environment)
    const admin = apiCaller(server.url, adminKey)
    const key = await issueKey(admin, { scopes: ['admin'] })
    const api = apiCaller(server.url, key)
    for (const [name, token] of Object.entries(tokens)) {
      const body = { name, provider: 'openai', token, url: fake.url }
      expect((await api('POST', '/provider-api-keys', { body })).status).toBe(201)
    }
    const prompts = names.map((name) => [name, `---\nprovider: ${name}\nmodel: m\n---\nHi`] as const)
    const { live } = await createTestProject(api, Object.fromEntries(prompts))
    const run = (url: string, path: string, body: object = {}) =>
      apiCaller(url, key)('POST', `${live}/documents/run`, { body: { path, ...body } })
    for (const name of names) expect((await run(server.url, name)).status).toBe(200)
    expect(fake.requests.map(({ headers }) => headers.authorization)).toEqual(
      Object.values(tokens).map((token) => `Bearer ${token}`),
    )
    server.child.kill('SIGTERM')
    await server.ended
    const sealed = await alterRows()

    server = await startServer(environment)
    const calls = fake.requests.length
    const answers: ApiAnswer[] = []
    for (const name of ['Flipped', 'Left', 'Right']) {
      const [plain, streamed] = [await run(server.url, name), await run(server.url, name, { stream: true })]
      expect(plain).toMatchObject({ status: 422, body: { errorCode: 'ai_provider_config_error' } })
      expect(streamed.text).toMatch(/"type":"chain-error".*"ai_provider_config_error"/)
      answers.push(plain, streamed)
    }
    expect(fake.requests.length).toBe(calls)
    expect((await run(server.url, 'Whole')).status).toBe(200)
    expect(fake.requests.at(-1)?.headers.authorization).toBe(`Bearer ${tokens.Whole}`)
    server.child.kill('SIGTERM')
    const { stderr } = await server.ended
    expect(stderr.match(/"event":"provider-key\.unreadable"/g)?.length).toBeGreaterThanOrEqual(3)
    const told = `${stderr}\n${answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join('\n')}`
    expect([...Object.values(tokens), ...sealed].filter((secret) => told.includes(secret))).toEqual([])
  },
  processTestMs,
)

/** Changes the rows directly in the database. Returns the sealed texts before and after. */
async function alterRows(): Promise<string[]> {
  const { session, close } = await openTestDatabase(storage)
  const read = async () => {
    const { rows } = await session.query('SELECT name, sealed_token FROM provider_key')
    return new Map(rows.map((row) => [String(row['name']), String(row['sealed_token'])]))
  }
  const store = (name: string, sealed = '') =>
    session.query('UPDATE provider_key SET sealed_token = $1 WHERE name = $2', [sealed, name])
  const before = await read()
  await store('Flipped', withFlippedByte(before.get('Flipped') ?? ''))
  await store('Left', before.get('Right'))
  await store('Right', before.get('Left'))
  const after = await read()
  await close()
  expect(names.filter((name) => after.get(name) !== before.get(name))).toEqual(['Flipped', 'Left', 'Right'])
  return [...before.values(), ...after.values()]
}

function withFlippedByte(sealed: string): string {
  const [format, keyId, body = ''] = sealed.split('.')
  const bytes = Buffer.from(body, 'base64url')
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
  return [format, keyId, bytes.toString('base64url')].join('.')
}
