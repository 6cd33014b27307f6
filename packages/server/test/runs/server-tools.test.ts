import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { loadServerTools } from '../../src/adapters/server-tools/load-server-tools.ts'
import { RunError } from '../../src/shared/app-error.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { prompt, type Recording, type RunBench, runBench } from './run-bench.ts'

const module = fileURLToPath(new URL('../support/server-tools.mjs', import.meta.url))

let bench: RunBench
beforeAll(async () => {
  bench = await runBench(
    {
      search: prompt('<user>Find</user>', 'tools:\n  - latitude/search\n  - ask: {}\n'),
      every: prompt('<user>Find</user>', "tools: ['latitude/*', count, odd, large, hang]\n"),
      missing: prompt('<user>Find</user>', 'tools: [latitude/code]\n'),
      plain: prompt('<user>Find</user>', 'tools: [never]\n'),
      lead: prompt('<user>Lead</user>', 'agents: [search-agent]\n'),
      'search-agent': prompt('<user>Find</user>', 'name: finder\ntools: [latitude/search]\n'),
    },
    { STET_TOOLS: module },
  )
})
afterAll(() => bench.close())

const call = (name: string, args: Record<string, unknown> = {}) => ({ toolCalls: [{ id: 'x', name, arguments: args }] })
const ofType = (recording: Recording, type: string) =>
  recording.events.filter(({ data }) => data['type'] === type).map(({ data }) => data)

it("runs an operator's tool with its call's context and shows the result", async () => {
  const before = bench.fake.requests.length
  bench.fake.enqueue(call('latitude_search', { query: 'bees' }), { text: 'Found.' })
  const recording = await bench.stream('search', { tools: ['latitude_search'] })
  const [shown] = ofType(recording, 'tool-call')
  expect(shown).toMatchObject({ toolName: 'latitude_search', _sourceData: { source: 'serverTool' } })
  const result = {
    found: ['about bees'],
    toolCallId: shown?.['toolCallId'],
    conversationUuid: recording.last['uuid'],
    workspaceId: expect.any(Number),
    projectId: expect.any(Number),
  }
  expect(ofType(recording, 'tool-result')).toMatchObject([{ result, isError: false, args: { query: 'bees' } }])
  expect(recording.last).toMatchObject({ type: 'chain-completed', toolRequests: [], response: { text: 'Found.' } })
  expect(bench.fake.requests[before]?.body['tools']).toMatchObject([
    { function: { name: 'ask' } },
    { function: { name: 'latitude_search', description: 'Searches.' } },
  ])
})

it("selects a folder with `folder/*`, lets a tool keep state, and returns a failed tool's reason to the model", async () => {
  const before = bench.fake.requests.length
  bench.fake.enqueue(call('count'), call('count'), call('latitude_fail'), call('odd'), call('large'), { text: 'Done.' })
  const recording = await bench.stream('every')
  const offered = bench.fake.requests[before]?.body['tools'] as { function: { name: string } }[]
  const names = ['latitude_search', 'latitude_fail', 'count', 'odd', 'large', 'hang']
  expect(offered.map((tool) => tool.function.name)).toEqual(names)
  const [first, second] = ofType(recording, 'tool-result').map(({ result }) => Number(result))
  expect(second).toBe(Number(first) + 1)
  expect(ofType(recording, 'tool-error').map(({ error }) => error)).toEqual([
    'The index is away',
    expect.stringContaining('BigInt'),
    expect.stringContaining('larger than'),
  ])
  expect(recording.last).toMatchObject({ type: 'chain-completed', response: { text: 'Done.' } })
})

it('aborts a tool after its timeout and continues with the model; the end of the run also aborts it', async () => {
  const noted = (name: 'Started' | 'Aborted') => Number(Reflect.get(globalThis, `stetTest${name}`) ?? 0)
  const before = { started: noted('Started'), aborted: noted('Aborted') }
  bench.server.deps.runs.settings.toolWaitMs = 100
  bench.fake.enqueue(call('hang'), { text: 'Without it.' })
  const recording = await bench.stream('every')
  bench.server.deps.runs.settings.toolWaitMs = 300_000
  expect(ofType(recording, 'tool-error')).toMatchObject([{ error: 'No result came within 0.1 seconds' }])
  expect(recording.last).toMatchObject({ type: 'chain-completed' })
  expect(noted('Aborted')).toBe(before.aborted + 1)

  bench.fake.enqueue(call('hang'))
  const run = bench.stream('every')
  await expect.poll(() => noted('Started')).toBe(before.started + 2)
  const [active] = bench.server.deps.runs.active.list()
  active?.abort(new RunError('abort_error', 'Stopped', { details: { reason: 'stop' } }))
  expect((await run).last).toMatchObject({ type: 'chain-error', error: { code: 'abort_error' } })
  expect(noted('Aborted')).toBe(before.aborted + 2)
})

it("lets an agent use an operator's tools", async () => {
  bench.fake.enqueue(call('finder'), call('latitude_search', { query: 'x' }), { text: 'Found x.' }, { text: 'Done.' })
  const recording = await bench.stream('lead')
  expect(ofType(recording, 'tool-call')).toHaveLength(1)
  expect(ofType(recording, 'tool-result')).toMatchObject([{ result: { value: 'Found x.', isError: false } }])
})

it('refuses an unknown tool by name', async () => {
  const message = "Tool 'latitude/code' is not available in stet"
  expect((await bench.stream('missing')).last['error']).toMatchObject({ code: 'unsupported_feature_error', message })
  expect((await bench.stream('plain')).last['error']).toMatchObject({ code: 'document_config_error' })
})

async function moduleFile(): Promise<string> {
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'tools.mjs')
}

describe('tool module', () => {
  it.each([
    ['that does not exist', undefined, 'cannot be loaded'],
    ['that throws', 'throw new Error("no index")', 'no index'],
    ['without tools', 'export default 7', 'must export its tools'],
    ['with a tool name that no model accepts', 'export default { "a b": { execute() {} } }', "'a b' is no name"],
    ['with a tool that cannot be called', 'export const tools = { a: { execute: 1 } }', "tool 'a' is not usable"],
  ])('prevents the start with one line: module %s', async (_name, text, message) => {
    const file = await moduleFile()
    if (text !== undefined) writeFileSync(file, text)
    await expect(loadServerTools(file)).rejects.toThrow(message)
  })

  it('can export its tools as default', async () => {
    const file = await moduleFile()
    writeFileSync(file, 'export default { echo: { execute: (args) => args } }')
    const tools = await loadServerTools(file)
    expect([...tools.keys()]).toEqual(['echo'])
    expect(tools.get('echo')?.parameters).toEqual({ type: 'object' })
  })
})
