/**
 * MCP clients, unchanged, against this server: the TypeScript SDK 1 and 2 over HTTP and through `stet mcp`, and the client
 * for Python if there is one. `pnpm check` has requests of both eras (test/mcp).
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestProject, issueKey, type Opened, openServer } from '../../http/scenario.ts'
import { type FakeProvider, fakeProvider } from '../../support/fake-provider.ts'

const isLong = process.env['STET_TEST_LONG'] === '1'
const here = fileURLToPath(new URL('.', import.meta.url))
const program = fileURLToPath(new URL('../../../../cli/bin/stet.mjs', import.meta.url))
/** A Python whose packages have `mcp` 2.3.0. */
const python = process.env['STET_TEST_MCP_PYTHON']

const reply = `---
provider: openai
model: gpt-4o
maxRetries: 0
description: Answers a ticket
parameters: {ticket: {type: text, required: true}}
schema: {type: object, properties: {answer: {type: string}}, required: [answer], additionalProperties: false}
---
<user>{{ ticket }}</user>
`

let fake: FakeProvider
let opened: Opened
let environment: Record<string, string>

beforeAll(async () => {
  if (!isLong) return
  fake = await fakeProvider()
  fake.setDefault(({ body }) => {
    const text = JSON.stringify(body)
    if (text.includes('FAIL')) return { status: 400, body: { error: { message: 'No' } } }
    return text.includes('SLOW') ? { raw: [' '], end: 'never' } : { text: '{"answer":"Yes"}' }
  })
  opened = await openServer({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: fake.url, STET_GRACE_MS: '3600000' })
  const { id: projectId } = await createTestProject(opened.api, { 'support/reply': reply })
  const limits = { plan: 'custom', limit: 100_000, projectId }
  const key = await issueKey(opened.api, { scopes: ['read', 'run'], ...limits })
  environment = { STET_BASE_URL: opened.server.url, STET_API_KEY: key, STET_BRIDGE: program }
})
afterAll(async () => {
  fake?.closeConnections()
  await opened?.server.close()
  await fake?.close()
})

const execute = promisify(execFile)

async function linesOf(command: string, file: string): Promise<string[]> {
  const { stdout } = await execute(command, [`${here}${file}`], { env: { ...process.env, ...environment } })
  return stdout.trim().split('\n')
}

test.runIf(isLong)(
  'six connections of the TypeScript SDKs pass 39 checks, and each cancel reaches the provider',
  async () => {
    const lines = await linesOf(process.execPath, 'suite.mjs')
    expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([])
    expect(lines).toHaveLength(39)
    await fake.waitForAbort(6)
  },
)

test.runIf(isLong && python)('the client for Python passes in both modes', async () => {
  expect(await linesOf(String(python), 'suite.py')).toEqual(['ok auto', 'ok legacy'])
})
