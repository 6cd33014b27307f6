/** A server with a fake provider and published prompts. */

import type { Message } from '@stet/contract/vocabulary'
import type { Replaced } from '../../src/compose.ts'
import { createTestProject, openServer } from '../http/scenario.ts'
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
  const fake = await fakeProvider()
  const opened = await openServer({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: fake.url, ...environment }, options)
  const { server, api, key } = opened
  const { live } = await createTestProject(api, prompts)
  return {
    server,
    fake,
    live,
    key,
    ...runCalls({ url: server.url, key, live }),
    async close() {
      // A closing server waits for calls that never end, otherwise.
      fake.closeConnections()
      await server.close()
      await fake.close()
    },
  }
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
