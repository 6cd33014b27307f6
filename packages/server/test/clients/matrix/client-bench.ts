/** A server with a fake provider and published prompts, behind a proxy that records the client's requests. */
import { expect } from 'vitest'
import { type FakeProvider, fakeProvider } from '../../support/fake-provider.ts'
import { type TestServer, testServer } from '../../support/test-server.ts'
import { type Front, openFront } from './front.ts'

export interface ClientBench {
  server: TestServer
  provider: FakeProvider
  front: Front
  key: string
  liveUuid: string
  /** Creates another draft of project 1 without the client. */
  newDraft(): Promise<string>
  /** Creates an evaluation with ratings from 1 to 5. */
  newEvaluation(): Promise<string>
  newLog(): Promise<string>
  close(): Promise<void>
}

const head = (keys = '') => `---\nprovider: OpenAI\nmodel: gpt-4o\n${keys}---\n`
const tool = (name: string) => `  - ${name}: { description: Any, parameters: { type: object } }\n`

export const prompts = {
  greet: `${head()}Be brief.\n<user>Say hello to {{ name }}.</user>\n`,
  weather: `${head(`tools:\n${tool('get_weather')}${tool('ask')}${tool('end_autonomous_chain')}`)}<user>Weather?</user>\n`,
  chain: `${head()}<step as="first">\n<user>One.</user>\n</step>\n<step>\n<user>After {{ first }}.</user>\n</step>\n`,
  'folder/triage': `${head('schema: { type: object, properties: { urgent: { type: boolean } } }\n')}<user>Urgent?</user>\n`,
  once: `${head('maxRetries: 0\n')}<user>Once.</user>\n`,
}

export async function openClientBench(
  environment: Record<string, string> = {},
  published: Record<string, string> = prompts,
): Promise<ClientBench> {
  const provider = await fakeProvider()
  const server = await testServer({
    environment: {
      OPENAI_API_KEY: 'sk-fake-provider-key',
      OPENAI_BASE_URL: provider.url,
      ...environment,
    },
  })
  const front = await openFront(new URL(server.url))
  const { client } = server
  const draft = await client.versions.create('for the client')
  const changes = Object.entries(published).map(([path, content]) => ({ path, content, status: 'added' as const }))
  await client.versions.push(draft.uuid, changes)
  await client.versions.publish(draft.uuid)
  return {
    server,
    provider,
    front,
    key: server.adminKey,
    liveUuid: draft.uuid,
    newDraft: async () => (await client.versions.create('a further draft')).uuid,
    newEvaluation: async () => (await client.evaluations.create({ name: 'Helpful', metric: 'rating' })).uuid,
    newLog: async () =>
      (await client.logs.create('greet', [{ role: 'user', content: 'Hello' }], { response: 'Hi!' })).uuid,
    async close() {
      await front.close()
      await server.close()
      await provider.close()
    },
  }
}

export const userMessage = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] })

export function toolAnswers({ provider }: Pick<ClientBench, 'provider'>): string[] {
  const sent = provider.requests.at(-1)?.body['messages'] as { role: string; content: string }[]
  return sent.filter(({ role }) => role === 'tool').map(({ content }) => content)
}

export async function sentDuring<T>({ front }: ClientBench, work: () => Promise<T>) {
  const before = front.requests.length
  const answer = await work()
  const sent = front.requests.slice(before)
  return { answer, sent, lines: sent.map(({ method, path }) => `${method} ${path}`) }
}

/** Returns the rejection of a call. Fails if the call resolves. */
export async function failureOf(call: Promise<unknown>): Promise<Record<string, unknown>> {
  const outcome = await call.then(
    () => 'it resolved',
    (error: unknown) => error,
  )
  expect(outcome).toBeInstanceOf(Error)
  return outcome as Record<string, unknown>
}
