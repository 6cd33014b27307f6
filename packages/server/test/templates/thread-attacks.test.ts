/** Runs that exhaust the time of the evaluation thread fail alone, as clients see it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({
    attacked: prompt('<step schema={{ schema }}><user>Rate</user></step>'),
    other: prompt('{{ for x in list }}{{ for y in list }}{{ n = x + y }}{{ endfor }}{{ endfor }}<user>Hi</user>'),
  })
})
afterAll(() => bench.close())

/** Each level applies the next one twice. */
function doubling(levels: number): object {
  const next = (level: number) => ({ $ref: `#/$defs/s${level + 1}` })
  const level = (_: unknown, at: number) => [`s${at}`, { allOf: [next(at), next(at)] }] as const
  return {
    $ref: '#/$defs/s0',
    $defs: Object.fromEntries([...Array.from({ length: levels }, level), [`s${levels}`, {}]]),
  }
}
const endless = doubling(40)

const attack = (schema: object) => bench.run('attacked', { parameters: { schema } })
const refusal = (text: string) => ({
  status: 422,
  body: { errorCode: 'chain_compile_error', message: expect.stringContaining(text) },
})
/** Takes more work than the server's own thread does. */
const goodRun = () => bench.run('other', { parameters: { list: Array.from({ length: 200 }, (_, at) => at) } })

it('ends the attacks, refuses them after the second one within a minute, and serves others', async () => {
  for (let round = 0; round < 2; round += 1) {
    expect(await attack(endless)).toMatchObject(refusal('took too long'))
    expect(await goodRun()).toMatchObject({ status: 200 })
  }
  expect(await attack(endless)).toMatchObject(refusal('try again in a minute'))
  expect(await goodRun()).toMatchObject({ status: 200 })
})
