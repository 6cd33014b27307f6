import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { type Api, createTestProject } from '../http/scenario.ts'
import { prompt } from '../runs/run-bench.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import { processTestMs, type ServerProcess, settingsFor, startServer } from '../support/server-process.ts'
import { testDatabase } from '../support/test-database.ts'

const noted = ['--import', fileURLToPath(new URL('../support/outgoing-probe.mjs', import.meta.url))]

interface Started {
  server: ServerProcess
  api: Api
}

async function started(environment: Record<string, string>): Promise<Started> {
  const storage = await testDatabase()
  const adminKey = generateApiKey()
  const server = await startServer({ ...settingsFor(storage), STET_ADMIN_KEY: adminKey, ...environment }, noted)
  onTestFinished(async () => {
    server.child.kill('SIGTERM')
    await server.ended
    await storage.close()
  })
  return { server, api: apiCaller(server.url, adminKey) }
}

async function reachedBy(child: ChildProcess): Promise<string[]> {
  const answer = once(child, 'message')
  child.send('outgoing')
  const [{ reached }] = (await answer) as [{ reached: string[] }]
  const database = process.env['STET_TEST_DATABASE_URL']
  return database ? reached.filter((each) => !each.endsWith(`:${new URL(database).port || '5432'}`)) : reached
}

async function useAll(api: Api, keys: string): Promise<number[]> {
  const { live } = await createTestProject(api, { hello: `---\n${keys}---\n<user>Hi {{ name }}</user>` })
  const run = (more: object) =>
    api('POST', `${live}/documents/run`, { body: { path: 'hello', parameters: { name: 'Ada' }, ...more } })
  const plain = await run({})
  const uuid = String(plain.body['uuid'])
  const streamed = await run({ stream: true })
  const queued = await run({ background: true })
  const attached = await api('POST', `/conversations/${String(queued.body['uuid'])}/attach`)
  const chat = await api('POST', `/conversations/${uuid}/chat`, {
    body: { messages: [{ role: 'user', content: 'More' }] },
  })
  return [plain, streamed, queued, attached, chat].map(({ status }) => status)
}

it(
  'starts, runs with the demo provider, and opens no outgoing connection; one to a provider is detected',
  async () => {
    const fake = await fakeProvider()
    onTestFinished(() => fake.close())
    const { port } = new URL(fake.url)
    const { server, api } = await started({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: fake.url })
    expect(await useAll(api, 'provider: demo\nmodel: demo\n')).toEqual([200, 200, 200, 200, 200])
    expect(await reachedBy(server.child)).toEqual([])
    const { live } = await createTestProject(api, { hello: prompt('<user>Hi</user>') })
    await api('POST', `${live}/documents/run`, { body: { path: 'hello' } })
    expect(await reachedBy(server.child)).toEqual([`connect 127.0.0.1:${port}`])
  },
  processTestMs,
)
