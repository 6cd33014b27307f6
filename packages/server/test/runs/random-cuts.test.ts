import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { count, seed, timeFor } from '../support/counts.ts'
import type { FakeReply } from '../support/fake-provider.ts'
import { modes, runIn, said, storeProtocols, wholeBytes, wires } from './provider-faults.ts'
import { type RunBench, runBench, textOf } from './run-bench.ts'

const cases = count(20, 5_000)

let bench: RunBench
beforeAll(async () => {
  const prompts = Object.keys(wires).map((name) => [
    name,
    `---\nprovider: ${name}\nmodel: m\nmaxRetries: 0\n---\n<user>Hi</user>`,
  ])
  bench = await runBench(Object.fromEntries(prompts), { STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  await storeProtocols(bench)
})
afterAll(() => bench.close())

const cut = fc.record({
  mode: fc.constantFrom(...modes),
  end: fc.constantFrom('clean', 'broken', 'reset'),
  /** A fraction of the length. It is often 1, where the answer is almost complete. */
  place: fc.oneof({ weight: 3, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) }, fc.constant(1)),
  fromEnd: fc.nat({ max: 40 }),
  pieces: fc.integer({ min: 1, max: 5 }),
})
type Cut = typeof cut extends fc.Arbitrary<infer T> ? T : never

it.each(Object.keys(wires))(
  'promise 11: %s: an answer cut anywhere never counts as complete',
  async (provider) => {
    await fc.assert(
      fc.asyncProperty(cut, (each) => checkCut(provider, each)),
      { numRuns: cases, seed },
    )
  },
  timeFor(cases, 1_000),
)

async function checkCut(provider: string, { mode, end, place, fromEnd, pieces }: Cut): Promise<void> {
  let isWhole = false
  let mayBeWhole = false
  const reply = (body: Record<string, unknown>): FakeReply => {
    const wire = wires[provider]
    if (!wire) throw new Error(`There is no protocol ${provider}`)
    const bytes = wholeBytes(wire, { body })
    const at = place === 1 ? Math.max(0, bytes.length - fromEnd) : Math.floor(place * bytes.length)
    mayBeWhole = at >= lastNeeded(bytes, body['stream'] === true)
    // A truncated frame may be the one with the finish reason.
    isWhole =
      mayBeWhole && end === 'clean' && (at === bytes.length || bytes.subarray(0, at).toString().endsWith('\n\n'))
    const size = Math.max(1, Math.ceil(at / pieces))
    const raw = Array.from({ length: Math.ceil(at / size) }, (_, piece) =>
      bytes.subarray(piece * size, Math.min(at, (piece + 1) * size)),
    )
    const type = body['stream'] === true ? 'text/event-stream' : 'application/json'
    return { raw, headers: { 'content-type': type }, end }
  }
  bench.fake.setDefault((request) => reply(request.body))
  const calls = bench.fake.requests.length
  const { uuid, recording } = await runIn(bench, mode, provider)
  const attached = await bench.streamAttach(uuid)
  expect(bench.fake.requests).toHaveLength(calls + 1)
  if (recording) expect(attached.text).toBe(recording.text)
  const conversation = await bench.conversation(uuid)
  const isCompleted = attached.last['type'] === 'chain-completed'
  expect(conversation['status']).toBe(isCompleted ? 'completed' : 'error')
  expect(conversation['conversation']).toEqual(attached.last['messages'])
  if (isWhole) expect(isCompleted).toBe(true)
  if (!mayBeWhole) expect(attached.last).toMatchObject({ type: 'chain-error', error: { code: 'ai_run_error' } })
  if (isCompleted) expect(textOf(attached)).toBe(said)
  else expect(said.startsWith(textOf(attached))).toBe(true)
}

/** From this offset on, an answer is complete, even if its end mark is missing or its connection breaks. */
function lastNeeded(bytes: Buffer, isStream: boolean): number {
  if (!isStream) return bytes.length
  const told = ['"finish_reason":"stop"', '"stop_reason":"end_turn"', '"type":"response.completed"']
    .map((mark) => bytes.indexOf(mark))
    .find((place) => place >= 0)
  return bytes.indexOf('\n\n', told)
}
