/** The examples of docs/sdk.md run as they stand. */
import { readFileSync } from 'node:fs'
import * as sdk from '@stet/sdk'
import ts from 'typescript'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'

const docs = readFileSync(new URL('../../../../docs/sdk.md', import.meta.url), 'utf8')
const examples = [...docs.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code)
/** Declarations for a compiler, and a route of another framework: there is nothing to run. */
const isDeclaration = (code: string) => /^(declare module|export async function POST)/m.test(code)

const schema = 'schema: { type: object, properties: { urgency: { type: string } }, required: [urgency] }\n'
const tools = 'tools:\n  get_weather: { description: Weather, parameters: { type: object } }\n'
const rome = { id: 'a', name: 'get_weather', arguments: { city: 'Rome' } }

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({
    'support/reply': prompt('<user>{{ ticket }}</user>'),
    'support/triage': prompt('<user>{{ ticket }}</user>', schema),
    'support/report': prompt('<user>Report</user>'),
    'support/old': prompt('<user>Old</user>'),
    weather: prompt('<user>Weather?</user>', tools),
  })
  vi.stubEnv('STET_LOG', 'off')
  vi.stubEnv('STET_API_KEY', bench.key)
  vi.stubEnv('STET_BASE_URL', bench.server.url)
  vi.stubEnv('STET_PROJECT_ID', /projects\/(\d+)/.exec(bench.live)?.[1] ?? '')
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(console, 'error').mockReturnValue()
})
afterAll(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await bench?.close()
})

/** What examples build on: the names that the text around them has introduced. */
async function scene() {
  const stet = new sdk.Stet()
  const draft = await stet.versions.create('draft')
  const result = await stet.prompts.run('support/report')
  const { contentHash: baseHash } = await stet.prompts.get('support/reply')
  const content = prompt('<user>New {{ ticket }}</user>')
  const stream = stet.prompts.stream('support/report')
  // what the fake provider answers next belongs to the example
  await stream.finalResult()
  const words = { ticket: 'Where is my order?', content, text: content, baseHash, uuid: result.uuid }
  return { ...sdk, z, stet, draft, draftUuid: draft.uuid, result, stream, ...words }
}

it('there are examples', () => expect(examples.length).toBeGreaterThanOrEqual(20))

it.each(examples.filter((code) => !isDeclaration(code)).map((code, index) => [index, code] as const))(
  'example %i',
  async (_, code) => {
    bench.fake.setDefault(code.includes('triage') ? { object: { urgency: 'high' } } : { text: 'Hello.' })
    const names = await scene()
    if (code.includes('get_weather')) bench.fake.enqueue({ toolCalls: [rome] })
    const own = code.replace(/apiKey: 'stet_…', baseUrl: '[^']*', projectId: 1/, '').replace(/^import .*$/gm, '')
    const target = ts.ScriptTarget.ES2022
    const { outputText } = ts.transpileModule(`async function example() {\n${own}\n}`, { compilerOptions: { target } })
    const run = new Function(...Object.keys(names), `${outputText}\nreturn example()`) as (
      ...values: unknown[]
    ) => Promise<void>
    await run(...Object.values(names))
  },
)
