import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Packed, packSdk } from '../../../../sdk/test/package/packed.ts'
import { INSTALL, testedRuntimes } from '../../../../sdk/test/runtimes/runtimes.ts'
import { prompt, type RunBench, runBench } from '../../runs/run-bench.ts'
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts'

const runtimes = testedRuntimes()
const missing = runtimes.filter(({ isHere }) => !isHere).map(({ name }) => name)
if (runtimes.filter(({ name }) => name.startsWith('node')).length < 2) missing.push('a second Node')
if (missing.length > 0)
  console.warn(`\n*** SKIPPED: the SDK on ${missing.join(', ')}. To install them: ${INSTALL} ***\n`)

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
  })
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
    latitude: [text, 'chain-completed', true],
  })
})
