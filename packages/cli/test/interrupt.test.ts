import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningServer, startServer } from './support/server.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

// A provider that says one word and then nothing: the run is still going on when the signal comes.
let provider: Server
let server: RunningServer
beforeAll(async () => {
  provider = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
    const choices = [{ index: 0, delta: { role: 'assistant', content: 'Begun' }, finish_reason: null }]
    response.write(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`)
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const { port } = provider.address() as AddressInfo
  server = await startServer({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` })
})
afterAll(async () => {
  provider.closeAllConnections()
  provider.close()
  await server.stop()
})

test('the first Ctrl-C leaves with 130, keeps what was printed and says what becomes of the run', async () => {
  const person = await Person.create(await temporaryFolder(), server)
  await mkdir(join(person.folder, 'prompts'))
  await writeFile(join(person.folder, 'prompts', 'slow.promptl'), '---\nprovider: openai\nmodel: m\n---\nTell.\n')
  await person.stet(['init', '--project', '1'])
  expect(await person.stet(['push'])).toMatchObject({ code: 0 })
  const child = person.spawn(['run', 'slow'])
  let [stdout, stderr] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    if (stdout === 'Begun') child.kill('SIGINT')
  })
  child.stdin.end()
  const [code] = await once(child, 'close')
  expect({ code, stdout }).toEqual({ code: 130, stdout: 'Begun\n' })
  expect(stderr).toContain('grace period')
  expect(stderr).toMatch(/conversation [0-9a-f-]{36}/)
})
