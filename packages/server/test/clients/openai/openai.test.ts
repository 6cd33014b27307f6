/**
 * Clients of OpenAI's API, unchanged, against this server: openai-node, AI SDK with four providers, LangChain, and
 * openai-python if there is one. `pnpm check` has only the `openai` package of the server (http/openai-door.test.ts).
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestProject, issueKey, type Opened, openServer } from '../../http/scenario.ts'
import { type FakeProvider, fakeProvider } from '../../support/fake-provider.ts'
import { scriptedReply } from './scripted-provider.ts'

const isLong = process.env['STET_TEST_LONG'] === '1'
const here = fileURLToPath(new URL('.', import.meta.url))
/** A Python whose packages have `openai` 3.22.1. */
const python = process.env['STET_TEST_OPENAI_PYTHON']

const head = '---\nprovider: OpenAI\nmodel: gpt-4o\nmaxRetries: 0\nparameters:\n  customer: {}\n  ticket: {}\n---\n'

let fake: FakeProvider
let opened: Opened
let environment: Record<string, string>

beforeAll(async () => {
  if (!isLong) return
  fake = await fakeProvider()
  fake.setDefault(scriptedReply)
  opened = await openServer({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: fake.url })
  const { api, server } = opened
  const content = `${head}<system>Customer: {{ customer }}\nTicket: {{ ticket }}</system>`
  const project = await createTestProject(api, { 'support/reply': content })
  // The suites name version 3.
  for (const number of [2, 3]) {
    const draft = await project.newDraft()
    const changes = [
      { path: 'support/reply', content: content.replace('Ticket:', `Version ${number}. Ticket:`), status: 'modified' },
    ]
    expect((await api('POST', `${draft}/push`, { body: { changes } })).status).toBe(200)
    expect((await api('POST', `${draft}/publish`)).status).toBe(200)
  }
  const limits = { plan: 'custom', limit: 100_000, projectId: project.id }
  const key = await issueKey(api, { scopes: ['read', 'run'], ...limits })
  environment = { STET_BASE_URL: server.url, STET_API_KEY: key }
})
afterAll(async () => {
  fake?.closeConnections()
  await opened?.server.close()
  await fake?.close()
})

const execute = promisify(execFile)

/** Returns the printed lines. A failed check is a line with its reason. */
async function linesOf(command: string, file: string): Promise<string[]> {
  const run = execute(command, [`${here}${file}`], { env: { ...process.env, ...environment } })
  const { stdout } = await run.catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }))
  return stdout.trim().split('\n')
}

test.runIf(isLong)('openai-node, AI SDK and LangChain', async () => {
  expect(existsSync(`${here}node_modules`), 'see scripts/test/machine.ts').toBe(true)
  const lines = await linesOf(process.execPath, 'suite.mjs')
  expect(lines.filter((line) => line.startsWith('FAIL'))).toEqual([])
  expect(lines.at(-1)).toBe('64 ok, 0 failed')
})

test.runIf(isLong && python !== undefined)('openai-python', async () => {
  const lines = await linesOf(String(python), 'suite.py')
  expect(lines.filter((line) => line.startsWith('FAIL'))).toEqual([])
  expect(lines.at(-1)).toBe('17 ok, 0 failed')
})

/** Recipes of the page, by name, with their language. Their files are beside the packages that they import. */
const page = readFileSync(`${here}../../../../../docs/start/openai-clients.md`, 'utf8')
const recipes = [...page.matchAll(/<!-- client: ([\w-]+) -->\n```(js|py)\n(.*?)\n```/gs)].map(
  ([, name = '', language = '', text = '']) => ({ name, language, text }),
)

test.runIf(isLong)('the recipes of docs/start/openai-clients.md', async () => {
  expect(recipes.map(({ name }) => name)).toEqual(['node', 'python', 'ai-sdk', 'langchain'])
  const folder = `${here}.recipes`
  mkdirSync(folder, { recursive: true })
  for (const { name, language, text } of recipes) {
    const command = language === 'js' ? process.execPath : python
    if (command === undefined) continue
    const file = `${folder}/${name}.${language === 'js' ? 'mjs' : language}`
    writeFileSync(file, text.replaceAll('http://127.0.0.1:8787', String(environment['STET_BASE_URL'])))
    const { stdout } = await execute(command, [file], { env: { ...process.env, ...environment } })
    expect(stdout, name).toContain('Your ticket is')
  }
  rmSync(folder, { recursive: true })
})
