/** Which evaluations run in the thread, and how the end of the thread affects the others. */
import { CallerLimitError } from '@stet/template'
import { afterEach, describe, expect, it } from 'vitest'
import { createPerform } from '../../src/adapters/evaluation/jobs.ts'
import type { EvaluationMetrics } from '../../src/adapters/evaluation/thread-queue.ts'
import type { EvaluationOwner } from '../../src/features/templates/template-engine.ts'
import {
  type EngineSettings,
  endlessAnswer,
  long,
  longList,
  now,
  outcome,
  patient,
  quietLog,
  rendered,
  sourceOf,
  startEngine,
  type TestEngine,
} from './support/engine.ts'

const attacker: EvaluationOwner = { workspaceId: 7, apiKeyId: 1 }
const victim: EvaluationOwner = { workspaceId: 8, apiKeyId: 2 }
const parameters = { list: longList, n: 0 }

const opened: TestEngine[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((engine) => engine.close()))
})

async function engineWith(settings: EngineSettings = {}): Promise<TestEngine> {
  const engine = await startEngine(settings)
  opened.push(engine)
  return engine
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no failure',
    (error: unknown) => error,
  )
}

async function placesOf(run: (engine: TestEngine) => Promise<unknown>): Promise<string[]> {
  const places: string[] = []
  const metrics: EvaluationMetrics = {
    evaluationEnded: ({ place }) => places.push(place),
    evaluationWaited() {},
    workerDied() {},
  }
  await run(await engineWith({ metrics }))
  return places
}

describe('the place of an evaluation', () => {
  it.each([
    ['a short step', 'inline', 'Hi {{ n }}'],
    ['a long step', 'thread', long],
    ['a step of a long text', 'thread', `{{ n }}${'x'.repeat(20_000)}`],
    ['long front matter', 'thread', `---\na: ${'x'.repeat(5_000)}\n---\n{{ n }}`],
  ])('%s: %s', async (_name, place, content) => {
    expect(await placesOf((engine) => rendered(engine, content, parameters))).toEqual([place])
  })

  it('is the thread for the check of an answer', async () => {
    expect(await placesOf((engine) => engine.checkAnswer({ schema: { type: 'string' }, value: 'a' }))).toEqual([
      'thread',
    ])
  })

  it('makes no difference to the result', async () => {
    const engine = await engineWith()
    const content = `<step as="x">{{ d = $now }}{{ o = { d } }}a</step>{{ x }} {{ d }} {{ o }}`
    const chainOf = async (text: string) => {
      const source = sourceOf(text)
      const first = await engine.step({ source, parameters: {}, now })
      if (first.done) throw new Error('The first step is never done')
      const answer = [{ role: 'assistant' as const, content: [{ type: 'text' as const, text: 'ok' }] }]
      const second = await engine.step({ source, parameters: {}, now, state: first.state, answer })
      return [first, second].map((step) => step.added)
    }
    const padding = `<!--${'x'.repeat(20_000)}-->`
    expect(await chainOf(content + padding)).toEqual(await chainOf(content))
  })
})

it('tells no workspace by its time what others have evaluated', () => {
  const perform = createPerform()
  const stepOf = (workspaceId: number) => {
    const job = { operation: 'step', workspaceId, source: sourceOf('Hi {{ n }}'), step: { parameters, now } } as const
    // A text that is already compiled needs no characters.
    return perform(job, { maxTextChars: workspaceId === attacker.workspaceId ? 0 : 100 })
  }
  expect(stepOf(victim.workspaceId)).toMatchObject({ result: { done: false } })
  expect(() => stepOf(attacker.workspaceId)).toThrow(CallerLimitError)
})

describe('an evaluation that holds the thread of the server', () => {
  const stallsOf = async (work: () => void): Promise<string[]> => {
    const warnings: string[] = []
    const engine = await engineWith({ log: { ...quietLog, warn: (event) => void warnings.push(event) } })
    const read = {
      get n() {
        work()
        return 1
      },
    }
    expect(await rendered(engine, 'Hi {{ n }}', read)).toBe('Hi 1')
    return warnings
  }

  it('is logged', async () => {
    const untilCpuMs = (ms: number): void => {
      const before = process.cpuUsage()
      while (process.cpuUsage(before).user < ms * 1_000);
    }
    expect(await stallsOf(() => untilCpuMs(120))).toEqual(['template.stall'])
  })

  it('is not logged if the machine was busy with other work', async () => {
    // The time that the operating system gives to others.
    const elsewhere = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120)
    expect(await stallsOf(elsewhere)).toEqual([])
  })
})

describe('work that ends the thread', () => {
  it('fails alone', async () => {
    const engine = patient(await engineWith({ timeoutMs: 200 }))
    const [failed, good, inline] = await Promise.all([
      engine.checkAnswer(endlessAnswer, attacker),
      outcome(engine, `${long}Good`, parameters, victim),
      outcome(engine, 'Good {{ n }}', parameters, victim),
    ])
    expect(failed).toEqual({ failure: 'The evaluation took too long' })
    expect(good).toEqual({ text: 'Good' })
    expect(inline).toEqual({ text: 'Good 0' })
  })

  it('is refused after the second time, but not in another workspace', async () => {
    const engine = patient(await engineWith({ timeoutMs: 100 }))
    for (let round = 0; round < 2; round += 1) {
      expect(await engine.checkAnswer(endlessAnswer, attacker)).toEqual({ failure: 'The evaluation took too long' })
    }
    const refusal = { failure: expect.stringContaining('try again in a minute') }
    expect(await engine.checkAnswer(endlessAnswer, attacker)).toEqual(refusal)
    expect(await engine.checkAnswer({ ...endlessAnswer, value: 'a' }, attacker)).toEqual({ issues: [] })
    expect(await engine.checkAnswer(endlessAnswer, victim)).toEqual({ failure: 'The evaluation took too long' })
  })
})

describe('the queue of the thread', () => {
  it('answers 503 with Retry-After beyond the limits of a workspace, unlike to others', async () => {
    const engine = await engineWith({ timeoutMs: 400, maxPerKey: 2, maxPerWorkspace: 3 })
    const start = (owner: EvaluationOwner) => failureOf(engine.checkAnswer(endlessAnswer, owner))
    const second = { ...attacker, apiKeyId: 2 }
    const held = [start(attacker), start(attacker), start(second)]
    const refusal = (limitOf: string) => ({ reason: 'too-many-evaluations', details: { limitOf, retryAfter: 1 } })
    expect(await start(attacker)).toMatchObject(refusal('API key'))
    expect(await start(second)).toMatchObject(refusal('workspace'))
    expect(await rendered(patient(engine), `${long}x`, parameters, victim)).toBe('x')
    await Promise.all(held)
    expect(await rendered(patient(engine), `${long}y`, parameters, attacker)).toBe('y')
  })

  it('drops the queued evaluations of a caller that disconnects', async () => {
    const engine = await engineWith({ timeoutMs: 400 })
    const held = patient(engine).checkAnswer(endlessAnswer, victim)
    const controller = new AbortController()
    const owner = { ...attacker, signal: controller.signal }
    const calls = [1, 2, 3].map((n) => failureOf(rendered(engine, `${n}${long}`, parameters, owner)))
    controller.abort()
    for (const call of calls) expect(await call).toMatchObject({ reason: 'client-disconnected' })
    await held
  })

  it('keeps a scan that others wait for', async () => {
    const engine = await engineWith({ timeoutMs: 400 })
    const held = patient(engine).checkAnswer(endlessAnswer, victim)
    const first = new AbortController()
    const source = sourceOf(`Shared {{ a.b }}${'x'.repeat(20_000)}`)
    const left = failureOf(engine.scan(source, { ...attacker, signal: first.signal }))
    const stayed = engine.scan(source, attacker)
    first.abort()
    expect(await left).toMatchObject({ reason: 'client-disconnected' })
    expect(await stayed).toMatchObject({ parameters: ['a'], errors: [] })
    await held
  })
})

describe('work on many prompts', () => {
  it('runs one at a time per workspace, alternates between its keys, and skips disconnected callers', async () => {
    const engine = await engineWith()
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
