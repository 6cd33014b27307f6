/** A server with one resource of each kind, and functions that create more for requests that consume them. */
import { prompt, type RunBench, runBench } from '../../runs/run-bench.ts'
import type { ApiAnswer } from '../api-call.ts'
import { browser } from '../console-call.ts'
import { createTestProject, issueKey, type TestProject } from '../scenario.ts'

export const bodyLimitBytes = 65_536
export const streamLimit = 4

export interface World {
  bench: RunBench
  project: TestProject
  evaluationUuid: string
  conversationUuid: string
  /** The project's prompt `hello`. */
  documentUuid: string
  /** A draft of the project that contains a prompt `broken`. */
  brokenDraft: string
  /** A project without a live version, but with a conversation and an evaluation. */
  unpublished: { id: number; conversationUuid: string; evaluationUuid: string }
  newApiKey(body?: Record<string, unknown>): Promise<{ id: number; key: string }>
  newProviderKey(): Promise<{ id: number; name: string }>
  /** Creates an example of the prompt `hello`. */
  newExample(name?: string): Promise<{ projectId: string; exampleUuid: string }>
  /** Creates an experiment with one row, and stops it. */
  newExperiment(): Promise<{ experimentUuid: string }>
  /** Signs in to the console. */
  newSession(): Promise<{ id: number; cookie: string }>
  /** A session of the console that nothing ends. */
  openSession(): Promise<{ cookie: string }>
  newDraft(): Promise<string>
  /** The same key for the same body. */
  keyWith(body: Record<string, unknown>): Promise<string>
  /** Creates a key with all scopes, restricted to the project. */
  restrictedKey(): Promise<string>
  /** Starts a background run that lasts until the test ends it. It occupies the only worker. */
  openRun(): Promise<{ conversationUuid: string; end(): Promise<void> }>
  /** Allows this conversation's run to outlive the test. */
  leaveOpen(conversationUuid: string): void
  close(): Promise<void>
}

let made = 0
export function newName(): string {
  made += 1
  return `made-${made}`
}

/** @param environment replaces settings of the server. */
export async function openWorld(environment: Record<string, string> = {}): Promise<World> {
  const bench = await runBench(
    { hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') },
    {
      STET_BODY_LIMIT_BYTES: String(bodyLimitBytes),
      STET_MAX_BYTES_PER_SECOND: String(bodyLimitBytes),
      STET_MAX_STREAMS_PER_KEY: String(streamLimit),
      STET_WORKERS: '1',
      STET_MAX_QUEUED_PER_KEY: '1',
      // This server causes unforeseen failures on purpose. Their log lines would hide real ones.
      STET_LOG_LEVEL: 'off',
      ...environment,
    },
  )
  const { api } = bench
  const project = await createTestProject(api, {
    hello: prompt('<user>Hi {{ name }}</user>', 'maxRetries: 0\nparameters: { name: { type: text } }\n'),
    contested: 'Hello',
    steps: prompt('<step><user>Hi</user></step>'),
    counting: prompt('<user>{{ count }}</user>', 'parameters: { count: { type: number, required: true } }\n'),
  })
  const created = async (path: string, body: Record<string, unknown>) => {
    const answer = await api('POST', path, { body })
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.body
  }
  const judged = async (projectId: number, version: string) => {
    const evaluation = await created('/evaluations', { projectId, name: 'all', metric: 'rating' })
    const log = await api('POST', `${version}/documents/logs`, { body: { path: 'hello', messages: [] } })
    return { evaluationUuid: String(evaluation['uuid']), conversationUuid: String(log.body['uuid']) }
  }
  const unpublished = await createTestProject(api)
  await api('POST', `${unpublished.draft}/documents`, { body: { path: 'hello', prompt: 'Hello' } })
  const broken = await project.newDraft()
  await api('POST', `${broken}/documents`, { body: { path: 'broken', prompt: '{{ if }}' } })
  const documentUuid = String((await api('GET', `${project.live}/documents/hello`)).body['uuid'])
  const left: string[] = []
  const keys = new Map<string, Promise<string>>()
  const keyWith = (body: Record<string, unknown>) => {
    const name = JSON.stringify(body)
    const key = keys.get(name) ?? issueKey(api, body)
    keys.set(name, key)
    return key
  }
  const newSession = async () => {
    const page = browser(bench.server.url)
    const { text, body } = await page.signIn({ apiKey: await issueKey(api, {}) })
    if (page.cookie === undefined) throw new Error(text)
    return { id: Number(body['id']), cookie: page.cookie }
  }
  let session: ReturnType<typeof newSession> | undefined
  const newExample = async (name = newName()) => {
    const { uuid } = await created(`/projects/${project.id}/examples`, { documentUuid, name, parameters: {} })
    return { projectId: String(project.id), exampleUuid: String(uuid) }
  }
  return {
    bench,
    project,
    ...(await judged(project.id, project.live)),
    documentUuid,
    brokenDraft: uuidOf(broken),
    unpublished: { id: unpublished.id, ...(await judged(unpublished.id, unpublished.draft)) },
    newApiKey: async (body = {}) => {
      const { id, key } = await created('/api-keys', { name: newName(), ...body })
      return { id: Number(id), key: String(key) }
    },
    newProviderKey: async () => {
      const name = newName()
      const token = 'sk-0123456789abcdef'
      const { id } = await created('/provider-api-keys', { name, provider: 'openai', token })
      return { id: Number(id), name }
    },
    newExample,
    newExperiment: async () => {
      const { exampleUuid } = await newExample()
      // Without evaluations, nothing is stored after the stop.
      const body = { path: 'hello', arms: [{ versionUuid: 'live' }], examples: [exampleUuid], evaluations: [] }
      const { uuid } = await created(`/projects/${project.id}/experiments`, body)
      await api('POST', `/experiments/${String(uuid)}/stop`)
      return { experimentUuid: String(uuid) }
    },
    newSession,
    openSession: () => (session ??= newSession()),
    newDraft: async () => uuidOf(await project.newDraft()),
    keyWith,
    restrictedKey: () => issueKey(api, { projectId: project.id, scopes: ['read', 'run', 'write', 'publish', 'admin'] }),
    async openRun() {
      const calls = bench.fake.requests.length
      bench.fake.enqueue({ deltas: ['half'], hang: 'mid-stream' })
      const conversationUuid = await bench.background('hello')
      await bench.fake.waitForRequest(calls + 1)
      return { conversationUuid, end: async () => void (await bench.stop(conversationUuid)) }
    },
    leaveOpen: (conversationUuid) => void left.push(conversationUuid),
    async close() {
      await Promise.all(left.map(bench.stop))
      await bench.close()
    },
  }
}

function uuidOf(versionAddress: string): string {
  return versionAddress.split('/').at(-1) ?? ''
}

/** Starts a run and returns a tool call that waits for the client's result. */
export async function openToolCall({ bench, leaveOpen }: World): Promise<string> {
  const path = newName()
  const text = prompt('<user>Weather?</user>', 'tools:\n  - get_weather: { parameters: { type: object } }\n')
  await bench.api('POST', `${bench.live}/documents/create-or-update`, { body: { path, prompt: text, force: true } })
  bench.fake.enqueue({ toolCalls: [{ id: 'a', name: 'get_weather', arguments: {} }] })
  const response = await bench.open(path, { tools: ['get_weather'] })
  leaveOpen(response.headers.get('x-conversation-uuid') ?? '')
  const decoder = new TextDecoder()
  let seen = ''
  for await (const chunk of response.body ?? []) {
    seen += decoder.decode(chunk as Uint8Array, { stream: true })
    const id = /"toolCallId":"([^"]+)"/.exec(seen)?.[1]
    if (id !== undefined) return id
  }
  throw new Error('The run ended without a call')
}

export async function failedRun({ bench }: World): Promise<ApiAnswer> {
  bench.fake.enqueue({ status: 401, body: { error: { message: 'no' } } })
  return bench.run('hello')
}
