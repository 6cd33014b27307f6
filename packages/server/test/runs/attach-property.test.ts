import { afterAll, beforeAll, expect, it } from 'vitest'
import { count, timeFor } from '../support/counts.ts'
import { environment, expectSameBytes, prompts } from './attached-readers.ts'
import { type RunBench, runBench } from './run-bench.ts'

const cases = count(40, 5_000)

let bench: RunBench
beforeAll(async () => {
  bench = await runBench(prompts, environment)
})
afterAll(() => bench.close())

it(
  'promise 6: readers that attach anywhere, in any state, with any cuts, get every event once, in order, with the same bytes',
  async () => {
    const { store } = bench.server.deps.runs
    const eventLogOf = async (uuid: string) =>
      store.findEventLog(1, (await store.findConversation(1, uuid))?.latestRun?.uuid ?? '')
    await expectSameBytes({ ...bench, servers: [bench], eventLogOf }, cases)
    expect(bench.fake.requests.length).toBeGreaterThan(cases)
  },
  timeFor(cases, 2_000),
)
