import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ProviderLimits } from '../../src/adapters/providers/transport/transport.ts'
import type { FakeReply, FakeRequest } from '../support/fake-provider.ts'
import {
  type Mode,
  modes,
  type ProviderFault,
  providerFaults,
  runIn,
  said,
  storeProtocols,
  wires,
} from './provider-faults.ts'
import { assistantMessage, type RunBench, runBench, textOf, userMessage } from './run-bench.ts'

const cases = Object.keys(wires).flatMap((provider) =>
  providerFaults.map((fault, place) => ({ provider, fault, path: `${provider}-${place}`, name: fault.name })),
)

/** Arrival times of a run's provider calls, by prompt and mode. */
const arrivals = new Map<string, number[]>()
let patient: RunBench
/** A server with short limits, for providers that hang. On a busy machine no other case may use it. */
let impatient: RunBench

// Each request identifies its run: the model is the prompt's path, and the only message is the mode.
function replyTo(request: FakeRequest): FakeReply {
  const path = String(request.body['model'])
  const mode = modes.find((each) => JSON.stringify(request.body).includes(`mode ${each}`))
  const found = cases.find((each) => each.path === path)
  const wire = found && wires[found.provider]
  if (!found || !wire) throw new Error(`No fault is called ${path}`)
  const times = [...(arrivals.get(`${path} ${mode}`) ?? []), performance.now()]
  arrivals.set(`${path} ${mode}`, times)
  return found.fault.reply({ wire, request, attempt: times.length })
}

async function open(hangs: boolean, providerLimits: Partial<ProviderLimits>): Promise<RunBench> {
  const prompts = cases
    .filter(({ fault }) => hangs === (fault.hangs ?? false))
    .map(({ provider, path }) => [
      path,
      `---\nprovider: ${provider}\nmodel: ${path}\n---\n<user>mode {{ mode }}</user>`,
    ])
  const environment = { STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1', STET_WORKERS: '100' }
  const bench = await runBench(Object.fromEntries(prompts), environment, { providerLimits })
  bench.fake.setDefault(replyTo)
  await storeProtocols(bench)
  return bench
}

beforeAll(async () => {
  patient = await open(false, { backoffMs: 10 })
  impatient = await open(true, { firstByteMs: 2_500, plainMs: 2_500, silenceMs: 2_500 })
})
afterAll(async () => {
  await patient.close()
  await impatient.close()
})

it.concurrent.each(cases)(
  'promise 11: $provider: $name: one documented end, the same in every mode',
  async ({ path, fault }) => {
    const bench = fault.hangs ? impatient : patient
    const ends = await Promise.all(modes.map((mode) => endOf(bench, { path, fault, mode })))
    for (const mode of modes) {
      const times = arrivals.get(`${path} ${mode}`) ?? []
      expect(times, mode).toHaveLength(fault.calls)
      const pauses = times.slice(1).map((time, place) => time - (times[place] ?? 0))
      // A timer may fire a millisecond early.
      for (const pause of pauses) expect(pause, mode).toBeGreaterThan((fault.pauseMs ?? 0) - 2)
    }
    const [json, stream, background] = ends
    expect(background).toEqual(stream)
    expect(json?.['errorCode']).toEqual(stream?.['errorCode'])
  },
  120_000,
)

interface Case {
  path: string
  fault: ProviderFault
  mode: Mode
}

/** Runs the case in one mode, compares every view of its end, and returns its error. */
async function endOf(bench: RunBench, { path, fault, mode }: Case): Promise<Record<string, unknown> | undefined> {
  const { uuid, recording, answer } = await runIn(bench, mode, path, { parameters: { mode } })
  const attached = await bench.streamAttach(uuid)
  if (recording) expect(attached.text).toBe(recording.text)
  expect(attached.types.slice(0, 4)).toEqual(['chain-started', 'step-started', 'provider-started', '·start-step'])
  const conversation = await bench.conversation(uuid)
  const result = await bench.attach(uuid)
  if (answer) expect(answer.status).toBe(result.status)
  const messages = [userMessage(`mode ${mode}`)]
  if (fault.code === undefined) {
    messages.push(assistantMessage(said))
    expect(attached.last).toMatchObject({ type: 'chain-completed', messages })
    expect(conversation).toMatchObject({ status: 'completed', error: null, conversation: messages })
    expect(result).toMatchObject({ status: 200, body: { response: { text: said } } })
    return undefined
  }
  const shown = mode === 'json' ? '' : (fault.text ?? '')
  if (shown !== '') messages.push(assistantMessage(shown))
  const { code, details } = fault
  const error = attached.last['error'] as Record<string, unknown>
  expect(attached.types.slice(-2)).toEqual(['·error', 'chain-error'])
  expect(textOf(attached)).toBe(shown)
  // Messages counts the input before the first word. Otherwise it is estimated.
  const counted = path.startsWith('Anthropic') && shown !== '' ? 12 : Math.ceil(`mode ${mode}`.length / 4)
  const inputTokens = fault.isUnanswered ? 0 : counted
  expect(attached.last).toMatchObject({ messages, cost: 0, tokenUsage: { inputTokens } })
  expect(error).toMatchObject({ name: 'DocumentRunError', errorCode: code, code, message: expect.stringMatching(/\w/) })
  expect(error['details']).toMatchObject({ errorCode: code, model: path, provider: expect.any(String), ...details })
  const { provider, status, providerMessage } = error['details'] as Record<string, unknown>
  if (providerMessage) expect(error['message']).toBe(`${provider}: ${status ?? 'error'} ${providerMessage}`)
  expect(conversation).toMatchObject({ status: 'error', error: { errorCode: code, message: error['message'] } })
  expect(conversation['conversation']).toEqual(messages)
  const told = { ...(error['details'] as Record<string, unknown>), conversationUuid: uuid }
  const failure = { name: 'DocumentRunError', errorCode: code, reason: 'run-failed' }
  const body = { ...failure, message: error['message'], details: told }
  expect(result).toMatchObject({ status: 422, body: { ...body, error: { message: body.message } } })
  if (answer) expect(answer.body).toEqual(body)
  return error
}
