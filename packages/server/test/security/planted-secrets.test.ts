import { readdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { createTestProject, issueKey } from '../http/scenario.ts'
import { openTestDatabase } from '../support/database-open.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import { processTestMs, settingsFor, startServer } from '../support/server-process.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

const adminKey = generateApiKey()
const providerKeys = { environment: 'sk-planted-env-0123456789', stored: 'sk-planted-row-0123456789' }
/** This word is in prompts, parameters and answers. It is stored and sent to callers, but never logged. */
const marker = 'planted-marker'

let storage: TestDatabase
const seen = { answers: '', logs: '', processes: '', database: '' }
const secrets: string[] = [adminKey, ...Object.values(providerKeys)]

beforeAll(async () => {
  storage = await testDatabase()
  const fake = await fakeProvider()
  const server = await startServer({
    ...settingsFor(storage),
    STET_LOG_LEVEL: 'debug',
    STET_ADMIN_KEY: adminKey,
    STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    OPENAI_API_KEY: providerKeys.environment,
    OPENAI_BASE_URL: fake.url,
  })
  const admin = apiCaller(server.url, adminKey)
  const issued = await issueKey(admin, { scopes: ['admin'] })
  secrets.push(issued)
  const call = apiCaller(server.url, issued)
  const ask = async (...request: Parameters<typeof call>) => {
    const { text, body, headers } = await call(...request)
    seen.answers += `${text}\n${JSON.stringify([...headers])}\n`
    return body
  }
  const entry = { name: 'Stored', provider: 'openai', token: providerKeys.stored, url: fake.url }
  await ask('POST', '/provider-api-keys', { body: entry })
  const prompt = (name: string) => `---\nprovider: ${name}\nmodel: m\nmaxRetries: 0\n---\n${marker} {{ x }}`
  const { live, draft } = await createTestProject(call, { env: prompt('openai'), stored: prompt('Stored') })
  // Like some real providers, this one repeats the key in its errors.
  fake.setDefault(({ headers, body }) =>
    body['stream'] === true
      ? { status: 401, body: { error: { message: `Incorrect API key: ${headers.authorization}` } } }
      : { text: marker },
  )
  for (const path of ['env', 'stored']) {
    for (const stream of [false, true]) {
      await ask('POST', `${live}/documents/run`, { body: { path, stream, parameters: { x: marker } } })
    }
  }
  await ask('POST', `${live}/documents/run`, { body: { path: 'none', parameters: { x: marker } } })
  await ask('POST', `${draft}/documents`, { body: { path: 'broken', prompt: `{{ ${marker}` } })
  await ask('POST', '/projects', { body: `{"name": "${marker}`, headers: { 'content-type': 'application/json' } })
  for (const path of ['/provider-api-keys', '/api-keys', '/me', '/conversations', '/nowhere']) await ask('GET', path)
  await ask('GET', '/me', { key: `${issued}x` })
  seen.processes = await commandLines(server.child.pid)
  server.child.kill('SIGTERM')
  seen.logs = (await server.ended).stderr
  seen.database = await dump(storage)
  await fake.close()
}, processTestMs)
afterAll(() => storage.close())

it.each(['answers', 'logs', 'processes', 'database'] as const)('finds no secret in the %s', (place) => {
  if (place !== 'processes') expect(seen[place].length).toBeGreaterThan(1_000)
  const found = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString('hex')])
  expect(found.filter((text) => seen[place].includes(text))).toEqual([])
})

it('logs no word of a prompt, a parameter or an answer', () => {
  expect(seen.answers).toContain(marker)
  expect(seen.database).toContain(marker)
  expect(seen.logs).toContain('http.request')
  expect(seen.logs).not.toContain(marker)
})

/** Returns the environment of the server and its child processes, where the system exposes it. */
async function commandLines(pid: number | undefined): Promise<string> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
  // The file is missing if the thread or child process has ended meanwhile.
  const read = (file: string) => readFile(`/proc/${file}`, 'utf8').catch(() => '')
  const lists = await Promise.all(tasks.map((task) => read(`${pid}/task/${task}/children`)))
  const children = lists
    .join(' ')
    .split(/\s+/)
    .filter((each) => each !== '')
  const lines = tasks.length === 0 ? [] : [String(pid), ...children]
  return (await Promise.all(lines.map((each) => read(`${each}/cmdline`)))).join('\n')
}

async function dump(target: TestDatabase): Promise<string> {
  const database = await openTestDatabase(target)
  const { rows } = await database.session.query(
    `SELECT table_name::text AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  )
  let text = ''
  for (const { name } of rows) {
    const found = await database.session.query(`SELECT each::text AS line FROM "${String(name)}" each`)
    for (const { line } of found.rows) text += `${String(line)}\n`
  }
  await database.close()
  return text
}
