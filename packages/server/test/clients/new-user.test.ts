/** A new user's first steps: install the packed client in an empty project and run the README's code. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newProject, nodes, type Packed, packSdk, runIn } from '../../../sdk/test/package/packed.ts'
import { type TestServer, testServer } from '../support/test-server.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const prompt = readFileSync(`${root}examples/prompts/support/reply.promptl`, 'utf8')
const style = readFileSync(`${root}examples/prompts/support/house-style.promptl`, 'utf8')

let packed: Packed
let server: TestServer
beforeAll(async () => {
  packed = await packSdk('dist')
  server = await testServer()
  const { client } = server
  const { uuid } = await client.versions.create('first')
  await client.versions.push(uuid, [
    { path: 'support/reply', status: 'added', content: prompt },
    { path: 'support/house-style', status: 'added', content: style },
  ])
  await client.versions.publish(uuid)
}, 120_000)
afterAll(async () => {
  await server?.close()
  packed?.remove()
})

function readmeProgram(): string {
  const blocks = readFileSync(`${root}README.md`, 'utf8').matchAll(/```ts\n(.*?)```/gs)
  const program = [...blocks].map(([, code = '']) => code).find((code) => code.includes('for await'))
  if (!program) throw new Error('The README shows no program that streams')
  return program
}

it('gets a typed, streamed run from the tarball in under ten lines', async () => {
  const program = readmeProgram()
  expect(program.split('\n').filter((line) => line.trim() !== '').length).toBeLessThan(10)
  const project = newProject(packed, { others: ['@types/node'] })
  writeFileSync(`${project}/main.ts`, `${program}\nconsole.log(JSON.stringify(response satisfies { text: string }))\n`)
  const compilerOptions = {
    strict: true,
    types: ['node'],
    target: 'ES2022',
    module: 'NodeNext',
    lib: ['ES2022', 'DOM', 'DOM.AsyncIterable'],
  }
  writeFileSync(`${project}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['main.ts'] }))
  await runIn(project, [process.execPath, fileURLToPath(import.meta.resolve('typescript/bin/tsc')), '-p', project])
  const environment = { STET_API_KEY: server.adminKey, STET_BASE_URL: server.url }
  for (const node of nodes()) {
    const printed = await runIn(project, [node, 'main.js'], environment)
    const lastLine = printed.trimEnd().split('\n').at(-1) ?? ''
    const { text, streamType } = JSON.parse(lastLine.slice(lastLine.indexOf('{"'))) as {
      text: string
      streamType: string
    }
    // The program streams its text before it logs anything.
    expect(printed.startsWith(text)).toBe(true)
    expect([streamType, text.length > 20]).toEqual(['text', true])
  }
}, 120_000)
