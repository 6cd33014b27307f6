/** The effects of one workspace on the template workers and on other workspaces. Every worker is a real process. */
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { EvaluationOwner } from '../../src/features/templates/template-engine.ts'
import {
  type EngineSettings,
  endless,
  now,
  outcome,
  patient,
  rendered,
  sourceOf,
  startEngine,
  type TestEngine,
  workerPids,
} from './support/engine.ts'

const attacker: EvaluationOwner = { workspaceId: 1, apiKeyId: 1 }
const victim: EvaluationOwner = { workspaceId: 2, apiKeyId: 9 }

/** The files before this one may share a server, which goes on in this process. */
const others = await workerPids()
const ownPids = async () => (await workerPids()).filter((pid) => !others.includes(pid))

const opened: TestEngine[] = []
async function engineWith(settings: EngineSettings = {}): Promise<TestEngine> {
  const engine = await startEngine(settings)
  opened.push(engine)
  return engine
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((engine) => engine.close()))
})

/** For tests in which only callers end evaluations. */
let shared: TestEngine | undefined
const slowEngine = async () => {
  shared ??= await startEngine({ poolSize: 1, timeoutMs: 60_000 })
  await rendered(patient(shared), 'Warm {{ 1 }}')
  return shared
}
afterAll(() => shared?.close())

const failureOf = (call: Promise<unknown>): Promise<{ code?: string; message?: string; details?: object }> =>
  call.then(
    () => ({}),
    (error: object) => error,
  )

// Before the others, because it counts every worker of this process.
it('does not repeat a call that ends a new worker', async () => {
  const engine = await engineWith({ poolSize: 1, timeoutMs: 60_000 })
  const huge = `{{ l = [1, 2, 3, 4] }}${'{{ l = l.concat(l) }}'.repeat(28)}{{ l.length }}`
  const seen = new Set(await ownPids())
  const watch = setInterval(async () => {
    for (const pid of await ownPids()) seen.add(pid)
  }, 50)
  expect(await failureOf(rendered(engine, huge))).toMatchObject({ message: expect.stringContaining('memory') })
  clearInterval(watch)
  // Two workers at the start and one replacement.
  expect(seen.size).toBeLessThanOrEqual(3)
})

describe('workspace that keeps its workers busy', () => {
  it('leaves a worker for other workspaces', async () => {
    const engine = await engineWith({ timeoutMs: 5_000 })
    let ended = 0
    const controller = new AbortController()
    const owner = { ...attacker, signal: controller.signal }
    const hostile = Array.from({ length: 12 }, (_, key) =>
      outcome(engine, `${key} ${endless}`, {}, { ...owner, apiKeyId: key })
        .catch(() => undefined)
        .finally(() => {
          ended += 1
        }),
    )
    for (let index = 0; index < 5; index += 1) {
      expect(await rendered(patient(engine), `Mine {{ n + ${index} }}`, { n: 1 }, victim)).toBe(`Mine ${1 + index}`)
    }
    expect(ended).toBe(0)
    controller.abort()
    await Promise.all(hostile)
  })

  it('gets 503 with Retry-After beyond its limits, unlike other workspaces', async () => {
    const engine = await engineWith({ timeoutMs: 5_000, maxPerKey: 2, maxPerWorkspace: 3 })
    const controller = new AbortController()
    const { signal } = controller
    const start = (owner: EvaluationOwner, text: string) =>
      failureOf(rendered(engine, `${text} ${endless}`, {}, { ...owner, signal }))
    const second = { ...attacker, apiKeyId: 2 }
    const held = [start(attacker, '1'), start(attacker, '2'), start(second, '3')]
    const refusal = (limitOf: string) => ({ reason: 'too-many-evaluations', details: { limitOf, retryAfter: 1 } })
    expect(await start(attacker, '4')).toMatchObject(refusal('API key'))
    expect(await start(second, '5')).toMatchObject(refusal('workspace'))
    expect(await rendered(patient(engine), '{{ 1 + 1 }}', {}, victim)).toBe('2')
    controller.abort()
    await Promise.all(held)
    expect(await rendered(patient(engine), '{{ 1 + 2 }}', {}, attacker)).toBe('3')
  })
})

it("does not refuse a shared scan because of one key's limit", async () => {
  const engine = await engineWith({ timeoutMs: 5_000, maxPerKey: 1 })
  const controller = new AbortController()
  const held = failureOf(rendered(engine, endless, {}, { ...attacker, signal: controller.signal }))
  const source = sourceOf('Shared {{ a.b }}')
  const refused = failureOf(engine.scan(source, attacker))
  const shared = engine.scan(source, { ...attacker, apiKeyId: 2 })
  expect(await refused).toMatchObject({ code: 'ServiceUnavailableError' })
  // The workspace has one worker for texts that it has not evaluated yet.
  controller.abort()
  expect(await shared).toMatchObject({ parameters: ['a'], errors: [] })
  await held
})

describe('caller that disconnects', () => {
  it('ends its running evaluation and drops its queued ones', async () => {
    const engine = await slowEngine()
    const before = await ownPids()
    const controller = new AbortController()
    const owner = { ...attacker, signal: controller.signal }
    const calls = [1, 2, 3].map((n) => failureOf(rendered(engine, `${n} ${endless}`, {}, owner)))
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    controller.abort()
    // Each call would take a minute.
    for (const call of calls) expect(await call).toMatchObject({ reason: 'client-disconnected' })
    await expect.poll(async () => (await ownPids()).filter((pid) => !before.includes(pid)).length).toBe(1)
    expect(await rendered(patient(engine), 'Next {{ 1 }}')).toBe('Next 1')
  })

  it('does not end a scan that others wait for', async () => {
    const engine = await slowEngine()
    const busy = new AbortController()
    const held = failureOf(rendered(engine, endless, {}, { ...attacker, signal: busy.signal }))
    const first = new AbortController()
    const source = sourceOf('Shared {{ a.b }}')
    const left = failureOf(engine.scan(source, { ...attacker, signal: first.signal }))
    const stayed = engine.scan(source, attacker)
    first.abort()
    expect(await left).toMatchObject({ reason: 'client-disconnected' })
    busy.abort()
    expect(await stayed).toMatchObject({ parameters: ['a'], errors: [] })
    await held
  })
})

describe('work on many prompts', () => {
  it('runs one at a time per workspace, alternates between its keys, and skips disconnected callers', async () => {
    const engine = await engineWith({ poolSize: 1 })
    const order: string[] = []
    let finish = () => {}
    const gate = new Promise<void>((resolve) => {
      finish = resolve
    })
    const work = (name: string, owner: EvaluationOwner) => engine.inTurn(owner, async () => void order.push(name))
    const first = engine.inTurn(attacker, () => gate)
    const left = new AbortController()
    const waiting = [work('a2', attacker), work('a3', attacker), work('b1', { ...attacker, apiKeyId: 2 })]
    const canceled = failureOf(work('left', { ...attacker, signal: left.signal }))
    await work('other workspace', victim)
    left.abort()
    expect(await canceled).toMatchObject({ reason: 'client-disconnected' })
    finish()
    await Promise.all([first, ...waiting])
    expect(order).toEqual(['other workspace', 'a2', 'b1', 'a3'])
  })
})

describe('evaluation that ends its worker', () => {
  const content = '{{ for x in list }}{{ for y in list }}{{ for z in list }}{{ x }}{{ endfor }}{{ endfor }}{{ endfor }}'
  const huge = Array.from({ length: 1_000 }, (_, index) => index)

  it('is refused after three times, but not with other parameters or in another workspace', async () => {
    const engine = patient(await engineWith({ timeoutMs: 200 }))
    const run = (list: number[], owner: EvaluationOwner) => failureOf(rendered(engine, content, { list }, owner))
    for (let round = 0; round < 3; round += 1) {
      expect(await run(huge, attacker)).toMatchObject({ message: expect.stringContaining('took too long') })
    }
    expect(await run(huge, attacker)).toMatchObject({ message: expect.stringContaining('try again in a minute') })
    expect(await rendered(engine, content, { list: [7] }, attacker)).toBe('7')
    expect(await engine.scan(sourceOf(content), attacker)).toMatchObject({ errors: [] })
    expect(await rendered(engine, content, { list: [8] }, victim)).toBe('8')
    expect(await run(huge, victim)).toMatchObject({ message: expect.stringContaining('took too long') })
  })
})

describe('leftovers of a prompt', () => {
  it('end with their worker before it serves another workspace', async () => {
    const engine = patient(await slowEngine())
    const before = await ownPids()
    const content = `{{ l = [1, 2, 3, 4] }}${'{{ l = l.concat(l) }}'.repeat(21)}{{ l.length }}`
    expect(await rendered(engine, content)).toBe(String(2 ** 23))
    await expect.poll(async () => (await ownPids()).filter((pid) => before.includes(pid)).length).toBe(1)
  })

  it('do not fail the next prompt: its call is repeated on a new worker', async () => {
    const engine = await slowEngine()
    const list = Array.from({ length: 250 }, (_, index) => index)
    const loops = '{{ n = 0 }}{{ for x in list }}{{ for y in list }}{{ n = n + 1 }}{{ endfor }}{{ endfor }}{{ n }}'
    // Only a used worker is replaced without a charge. A short call that ends during a longer one ran on the second
    // worker.
    const ended: string[] = []
    while (ended[0] !== 'short') {
      ended.length = 0
      await Promise.all([
        rendered(engine, loops, { list }, attacker).then(() => ended.push('long')),
        rendered(engine, 'Warm {{ 1 }}', {}, victim).then(() => ended.push('short')),
      ])
    }
    const before = await ownPids()
    const answer = engine.step({ source: sourceOf(loops), parameters: { list }, now })
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    for (const pid of before) process.kill(pid, 'SIGKILL')
    expect(await answer).toMatchObject({ input: [{ content: [{ text: String(250 * 250) }] }] })
  })
})
