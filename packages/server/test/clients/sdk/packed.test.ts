/** The packed SDK: a new user's first steps, every runtime, and web pages. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { supportedNodes } from '../../../../../scripts/supported-nodes.ts'
import { chromium } from '../../../../sdk/test/browser/chromium.ts'
import { newProject, type Packed, packSdk, runIn } from '../../../../sdk/test/package/packed.ts'
import { INSTALL, testedRuntimes } from '../../../../sdk/test/runtimes/runtimes.ts'
import { prompt, type RunBench, runBench } from '../../runs/run-bench.ts'
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts'
import { webPageTests } from './web-page.ts'

const runtimes = testedRuntimes()
const missing = runtimes.filter(({ isHere }) => !isHere).map(({ name }) => name)
if (runtimes.filter(({ name }) => name.startsWith('node')).length < 2) missing.push('a second Node')
if (missing.length > 0) leaveOut(`the SDK on ${missing.join(', ')}. To install them: ${INSTALL}`)
if (!chromium) leaveOut('a run in a web page. Install Chromium, or set STET_TEST_CHROMIUM to its binary.')

/** @throws Error before a release, which needs every runtime. */
function leaveOut(what: string): void {
  if (process.env['STET_TEST_LONG'] === '1') throw new Error(`Not tested: ${what}`)
  console.warn(`\n*** SKIPPED: ${what} ***\n`)
}

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const examples = `${root}examples/prompts/support/`
const words = Array.from({ length: 12 }, (_, index) => `wörd${index} `)
const text = words.join('')
const tools = 'tools:\n  get_weather: { description: Weather, parameters: { type: object } }\n'
const schema = 'schema: { type: object, properties: { urgency: { type: string } }, required: [urgency] }\n'

let bench: RunBench
let proxy: FaultProxy
let packed: Packed
beforeAll(async () => {
  packed = await packSdk('dist')
  bench = await runBench({
    hello: prompt('<user>Hello</user>'),
    weather: prompt('<user>Weather?</user>', tools),
    slow: prompt('<user>Slowly</user>'),
    judge: prompt('<user>Judge</user>', schema),
    reply: prompt('<user>{{ ticket }}</user>'),
  })
  const { versions } = bench.server.client
  const { uuid } = await versions.create('first')
  const content = ['reply', 'house-style'].map((name) => [`support/${name}`, `${examples}${name}.promptl`] as const)
  const changes = content.map(([path, file]) => ({
    path,
    status: 'added' as const,
    content: readFileSync(file, 'utf8'),
  }))
  await versions.push(uuid, changes)
  await versions.publish(uuid)
  proxy = await faultProxy(Number(new URL(bench.server.url).port))
  bench.fake.setDefault(({ body }) => {
    const asked = JSON.stringify(body['messages'])
    if (asked.includes('Slowly')) return { deltas: ['a ', 'b'], hang: 'mid-stream' }
    if (asked.includes('Judge')) return { object: { urgency: 'high' } }
    if (!asked.includes('Weather?')) return { deltas: words }
    if (asked.includes('blue')) return { text: 'Sunny.' }
    return { toolCalls: [{ id: 'a', name: 'get_weather', arguments: { city: 'Rome' } }] }
  })
}, 300_000)
afterAll(async () => {
  await proxy?.close()
  await bench?.close()
  packed?.remove()
})

it.each(runtimes.filter(({ isHere }) => isHere))('$name', async ({ run }) => {
  // Cuts two connections after the head and a few events. The third one delivers the rest.
  proxy.cutAfter(1600, 900)
  const saw = await run(packed, {
    apiKey: bench.key,
    projectId: Number(/projects\/(\d+)/.exec(bench.live)?.[1]),
    baseUrl: bench.server.url,
    shakyUrl: `http://127.0.0.1:${proxy.port}`,
  })
  expect(saw).toEqual({
    fetched: 'hello',
    run: text,
    json: text,
    refused: [true, true, 'NotFoundError', 404],
    resumed: [true, text, text, 2],
    tools: ['Sunny.', ['get_weather', 'Rome', false, 'string']],
    turns: 'Sunny.',
    background: [text, text, true, 'completed'],
    aborted: ['AbortError', 'aborted', 'stopped'],
    cached: ['network', 'cache', 'fallback', 'As shipped'],
    proxied: [text, true],
    object: [{ urgency: 'high' }, { urgency: 'high' }],
    latitude: [text, 'chain-completed', true, [{ role: 'system', content: 'Hi 1' }]],
  })
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
  const environment = { STET_API_KEY: bench.key, STET_BASE_URL: bench.server.url }
  for (const node of supportedNodes()) {
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

describe.runIf(chromium)('a web page', () => webPageTests(chromium ?? '', () => ({ bench, packed })))
