import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { prompt } from '../runs/run-bench.ts'
import { count, timeFor } from '../support/counts.ts'
import {
  childCount,
  descriptors,
  hasProcessFigures,
  type ProbeFigures,
  probe,
  residentBytes,
} from '../support/process-figures.ts'
import { type RunServer, runServer } from './run-server.ts'

const runs = count(400, 100_000)
const samples = 5
const atOnce = 20
/** The heap growth per run. In 400 runs V8's own growth is 3 kB each; a run that stays in memory adds 11 kB. */
const allowedBytes = count(8_192, 128)
const megabyte = 1024 * 1024

interface Figures extends ProbeFigures {
  residentBytes: number
  descriptors: Record<string, number>
  children: number
}

it.skipIf(!hasProcessFigures)(
  'promise 19: runs of every kind leak no memory or handles',
  async () => {
    const bench = await runServer(
      {
        hello: prompt('<user>Hi</user>', 'maxRetries: 0\n'),
        two: prompt('<step><user>A</user></step><step><user>B</user></step>'),
        tool: prompt('<user>Hi</user>', 'tools:\n  - look: { description: x, parameters: { type: object } }\n'),
      },
      // With room for few ended runs, the caches are full after the first half.
      { STET_GRACE_MS: '50', STET_ENDED_RUN_BYTES: '100000' },
    )
    onTestFinished(() => bench.close())
    const kinds = kindsOf(bench)
    let made = 0
    const make = async (many: number) => {
      let left = many
      const worker = async () => {
        while (left > 0) {
          left -= 1
          const kind = kinds[made % kinds.length]
          made += 1
          await kind?.()
        }
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
      await bench.untilActive(0)
    }
    await make(runs / 2)
    const taken: Figures[] = [await figuresOf(bench)]
    for (let sample = 0; sample < samples; sample += 1) {
      await make(runs / 2 / samples)
      taken.push(await figuresOf(bench, taken[0]))
    }
    const told = JSON.stringify(taken)
    const perRun = slope(taken.map(({ heapUsed }) => heapUsed)) / (runs / 2 / samples)
    console.info(
      `heap: ${perRun.toFixed(0)} bytes per run, ${(taken.at(-1)?.residentBytes ?? 0) / megabyte} MB resident`,
    )
    expect(perRun, told).toBeLessThan(allowedBytes)
    expect(slope(taken.map((each) => each.residentBytes)) * samples, told).toBeLessThan(64 * megabyte)
    const [first, last] = [taken[0], taken.at(-1)]
    expect(last?.descriptors['file'], told).toBeLessThan((first?.descriptors['file'] ?? 0) + 20)
    // The first sample may have a connection that closes late, so only more handles are a leak.
    expect(last && first && moreHandles(last, first), told).toEqual([])
    expect(last?.listeners, told).toBe(first?.listeners)
    expect(last?.warnings.filter((text) => text.startsWith('MaxListeners'))).toEqual([])
    expect(bench.fake.requests.length).toBeGreaterThan(runs * 0.9)
  },
  timeFor(runs, 200),
)

/** One run of each kind: completed, failed, continued, attached to, stopped, and abandoned by its caller. */
function kindsOf({ fake, post, live }: RunServer): (() => Promise<unknown>)[] {
  const run = (path: string, body: object = {}, signal?: AbortSignal) =>
    post(`${live}/documents/run`, { path, ...body }, signal)
  const text = async (response: Promise<Response>) => (await response).text()
  const conversationOf = (response: Response) => response.headers.get('x-conversation-uuid') ?? ''
  fake.setDefault(({ body }) => {
    if (JSON.stringify(body).includes('"look"')) return { toolCalls: [{ id: 'c', name: 'look', arguments: {} }] }
    return { deltas: ['some ', 'words ', 'of ', 'an ', 'answer'] }
  })
  return [
    () => text(run('hello')),
    () => text(run('two', { stream: true })),
    () => text(run('tool', { stream: true })),
    async () => {
      const started = await run('hello', { stream: true })
      await started.text()
      const messages = [{ role: 'user', content: 'More' }]
      await text(post(`/conversations/${conversationOf(started)}/chat`, { messages, stream: true }))
    },
    async () => {
      const started = await run('hello', { background: true })
      await started.text()
      await text(post(`/conversations/${conversationOf(started)}/attach`, { stream: true }))
    },
    async () => {
      const started = await run('hello', { stream: true })
      await text(post(`/conversations/${conversationOf(started)}/stop`, {}))
      await started.text()
    },
    async () => {
      const leaving = new AbortController()
      const started = await run('two', { stream: true }, leaving.signal)
      await started.body?.getReader().read()
      leaving.abort()
    },
    () => {
      fake.enqueue({ status: 500 })
      return text(run('hello'))
    },
    () => {
      fake.enqueue({ text: 'cut off', cut: 1 })
      return text(run('hello', { stream: true }))
    },
  ]
}

/**
 * Samples until the handles stop changing, because connections close and worker processes are replaced with a delay. A
 * leak remains in every sample.
 * @param first a sample whose handles the process should return to.
 */
async function figuresOf({ server: { child }, fake, closeConnections }: RunServer, first?: Figures): Promise<Figures> {
  let before: string | undefined
  for (let looks = 0; looks < 50; looks += 1) {
    fake.closeConnections()
    await closeConnections()
    const found = { ...(await probe(child)), descriptors: await descriptors(child), children: await childCount(child) }
    const handles = JSON.stringify(handlesOf(found))
    const isAtRest =
      handles === before && (first === undefined || looks === 49 || moreHandles(found, first).length === 0)
    if (isAtRest) return { ...found, residentBytes: await residentBytes(child) }
    before = handles
    await delay(200)
  }
  throw new Error(`The handles of the server do not come to rest: ${before}`)
}

/** Excludes files, because the database opens more of them as it grows. */
function handlesOf({ descriptors: { file: _file, ...others }, resources, children }: Omit<Figures, 'residentBytes'>) {
  return Object.entries({ ...others, ...resources, children }).sort()
}

/** The kinds of handles of which there are more than at first. */
function moreHandles(now: Omit<Figures, 'residentBytes'>, first: Figures): string[] {
  const before = new Map(handlesOf(first))
  return handlesOf(now).flatMap(([kind, count]) => (count > (before.get(kind) ?? 0) ? [kind] : []))
}

function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const rise = values.reduce((sum, value, place) => sum + (place - middle) * (value - mean), 0)
  return rise / values.reduce((sum, _value, place) => sum + (place - middle) ** 2, 0)
}
