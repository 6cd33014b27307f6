/** A server with one thing of each kind, and makers of further ones for the requests that use them up. */
import { prompt, type RunBench, runBench } from '../../runs/run-bench.ts'
import type { ApiAnswer } from '../api-call.ts'
import { createTestProject, issueKey, type TestProject } from '../scenario.ts'

export const bodyLimitBytes = 65_536

export interface World {
  bench: RunBench
  /** With `hello` published, and a draft beside it. */
  project: TestProject
  evaluationUuid: string
  conversationUuid: string
  newApiKey(body?: Record<string, unknown>): Promise<{ id: number; key: string }>
  newProviderKey(): Promise<{ id: number; name: string }>
  /** The uuid of a further draft of the project. */
  newDraft(): Promise<string>
  /** A key with exactly these rights. */
  keyWith(body: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

let made = 0
/** A name that was not given before. */
export function newName(): string {
  made += 1
  return `made-${made}`
}

export async function openWorld(): Promise<World> {
  const bench = await runBench(
    { hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') },
    // Failures that nobody foresaw are brought about here: their log lines would hide the others.
    { STET_BODY_LIMIT_BYTES: String(bodyLimitBytes), STET_LOG_LEVEL: 'off' },
  )
  const { api } = bench
  const project = await createTestProject(api, {
    hello: prompt('<user>Hi {{ name }}</user>', 'maxRetries: 0\nparameters: { name: { type: text } }\n'),
    contested: 'Hello',
    counting: prompt('<user>{{ count }}</user>', 'parameters: { count: { type: number } }\n'),
  })
  const created = async (path: string, body: Record<string, unknown>) => {
    const answer = await api('POST', path, { body })
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.body
  }
  const evaluation = await created('/evaluations', { projectId: project.id, name: 'all', metric: 'rating' })
  const logs = `/projects/${project.id}/versions/live/documents/logs`
  const log = await api('POST', logs, { body: { path: 'hello', messages: [{ role: 'user', content: 'Hi' }] } })
  return {
    bench,
    project,
    evaluationUuid: String(evaluation['uuid']),
    conversationUuid: String(log.body['uuid']),
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
    newDraft: async () => (await project.newDraft()).split('/').at(-1) ?? '',
    keyWith: (body) => issueKey(api, body),
    close: () => bench.close(),
  }
}

/** A call that waits for its caller's answer, in a run that goes on meanwhile. */
export async function openToolCall({ bench }: World): Promise<string> {
  const path = newName()
  const text = prompt('<user>Weather?</user>', 'tools:\n  - get_weather: { parameters: { type: object } }\n')
  await bench.api('POST', `${bench.live}/documents/create-or-update`, { body: { path, prompt: text, force: true } })
  bench.fake.enqueue({ toolCalls: [{ id: 'a', name: 'get_weather', arguments: {} }] })
  const response = await bench.open(path, { tools: ['get_weather'] })
  const decoder = new TextDecoder()
  let seen = ''
  for await (const chunk of response.body ?? []) {
    seen += decoder.decode(chunk as Uint8Array, { stream: true })
    const id = /"toolCallId":"([^"]+)"/.exec(seen)?.[1]
    if (id !== undefined) return id
  }
  throw new Error('The run ended without a call')
}

/** A run of `hello` that failed, and the conversation that it left. */
export async function failedRun({ bench }: World): Promise<ApiAnswer> {
  bench.fake.enqueue({ status: 401, body: { error: { message: 'no' } } })
  return bench.run('hello')
}
