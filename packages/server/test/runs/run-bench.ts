/** A server with a fake provider and published prompts. */

import type { Message } from '@stet/contract/vocabulary'
import type { Replaced } from '../../src/compose.ts'
import { createTestProject, type Opened, openServer } from '../http/scenario.ts'
import { leaveToEnd } from '../http/shared-server.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import type { TestServer } from '../support/test-server.ts'
import { type RunCalls, runCalls } from './run-calls.ts'

export { type Recording, record, textOf } from './run-calls.ts'

export interface RunBench extends RunCalls {
  server: TestServer
  fake: FakeProvider
  live: string
  key: string
  close(): Promise<void>
}

export async function runBench(
  prompts: Record<string, string>,
  environment: Record<string, string> = {},
  options: Replaced = {},
): Promise<RunBench> {
  const parts = await openParts(environment, options)
  const { fake, opened } = parts
  return {
    ...(await benchOf(parts, prompts)),
    async close() {
      // A closing server waits for calls that never end, otherwise.
      fake.closeConnections()
      await opened.server.close()
      await fake.close()
    },
  }
}

let shared: Promise<Parts> | undefined

/**
 * A bench with default settings whose server and provider the files of one test process share. A file may change only what
 * belongs to its own project, and the provider's replies. On PostgreSQL each file has a server of its own.
 */
export async function sharedBench(prompts: Record<string, string>): Promise<RunBench> {
  if (process.env['STET_TEST_DATABASE_URL']) return runBench(prompts)
  shared ??= openParts().then((parts) => {
    leaveToEnd(parts.opened)
    return parts
  })
  const parts = await shared
  const bench = await benchOf(parts, prompts)
  return {
    ...bench,
    async close() {
      // Their calls would get the replies of the next file.
      const { rows } = await bench.server.database.session.query(
        'SELECT conversation_uuid::text AS uuid FROM run WHERE ended_at IS NULL',
      )
      await Promise.all(rows.map(({ uuid }) => bench.stop(String(uuid))))
      bench.fake.clear()
      bench.fake.setDefault({ text: 'Hello from the fake provider.' })
    },
  }
}

interface Parts {
  fake: FakeProvider
  opened: Opened
}

async function openParts(environment: Record<string, string> = {}, options: Replaced = {}): Promise<Parts> {
  const fake = await fakeProvider()
  const provider = { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: fake.url }
  return { fake, opened: await openServer({ ...provider, ...environment }, options) }
}

async function benchOf({ fake, opened }: Parts, prompts: Record<string, string>): Promise<Omit<RunBench, 'close'>> {
  const { server, api, key } = opened
  const { live } = await createTestProject(api, prompts)
  return { server, fake, live, key, ...runCalls({ url: server.url, key, live }) }
}

/** A caller with the first workspace's key, for use cases that a test calls directly. */
export const caller = {
  apiKeyId: 1,
  workspaceId: 1,
  author: { id: 1, name: 'Ada', email: 'ada@example.com' },
  scopes: ['admin'],
  projectId: null,
  limit: 1000,
  expiresAt: null,
  sessionId: null,
} as const

export function prompt(body: string, keys = ''): string {
  return `---\nprovider: OpenAI\nmodel: gpt-4o\n${keys}---\n${body}`
}

const message =
  (role: Message['role']) =>
  (text: string): Message => ({ role, content: [{ type: 'text', text }] })
export const userMessage = message('user')
export const systemMessage = message('system')
export const assistantMessage = message('assistant')
