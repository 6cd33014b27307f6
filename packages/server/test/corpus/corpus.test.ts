import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runEngineAlone } from '../../../template/test/engine-alone.ts'
import { parameterValues } from '../../src/features/templates/parameters.ts'
import { readPromptConfig } from '../../src/features/templates/prompt-config.ts'
import type { CompileIssue, TemplateStep } from '../../src/features/templates/template-engine.ts'
import { RunError } from '../../src/shared/app-error.ts'
import { now, startEngine, type TestEngine } from '../templates/support/engine.ts'
import { answersOf, type CorpusCase, corpusCases, inFull, sourceOf } from './case.ts'

type OpenStep = Extract<TemplateStep, { done: false }>

let engine: TestEngine
beforeAll(async () => {
  engine = await startEngine()
})
afterAll(() => engine.close())

const cases = corpusCases()

/** Renders all steps. Each step uses a new process without state from the previous one. */
async function stepsOf(prompt: CorpusCase, config: Record<string, unknown>): Promise<OpenStep[]> {
  const source = sourceOf(prompt)
  const parameters = parameterValues(config, prompt.parameters ?? {})
  const steps: OpenStep[] = []
  let step = await engine.step({ source, parameters, now })
  for (const answer of answersOf(prompt)) {
    if (step.done) throw new Error('There are more answers than steps')
    steps.push(step)
    step = await engine.step({ source, parameters, now, state: step.state, answer })
  }
  const isWhole = prompt.answers !== undefined && prompt.error === undefined
  if (isWhole && !step.done) throw new Error('A step has no answer')
  return step.done ? steps : [...steps, step]
}

async function faultOf(prompt: CorpusCase): Promise<Partial<CompileIssue> | undefined> {
  const { errors, config } = await engine.scan(sourceOf(prompt))
  try {
    await stepsOf(prompt, config)
  } catch (error) {
    if (!(error instanceof RunError) || error.code !== 'chain_compile_error') throw error
    const { compileCode, ...place } = error.details
    const fault = { code: String(compileCode), ...place }
    if (errors[0]) expect({ ...errors[0], message: undefined }).toEqual({ ...fault, message: undefined })
    return fault
  }
  return undefined
}

function expectSteps(prompt: CorpusCase, steps: readonly OpenStep[]): void {
  expect(steps.map(({ added }) => added)).toEqual(prompt.steps?.map(({ added }) => inFull(added)))
  for (const [index, { input, config }] of (prompt.steps ?? []).entries()) {
    if (input) expect(steps[index]?.input).toEqual(inFull(input))
    if (config) expect(steps[index]?.config).toEqual(config)
  }
}

describe('corpus', () => {
  it.each(cases.filter(({ error }) => !error))('$name: $about', async (prompt) => {
    const scan = await engine.scan(sourceOf(prompt))
    expect(scan.errors).toEqual([])
    expect(scan.warnings).toMatchObject(prompt.warnings ?? [])
    expect(scan.issues.filter(({ code }) => code !== 'no-messages')).toEqual([])
    if (prompt.config) expect(scan.config).toEqual(prompt.config)
    if (prompt.variables) expect(scan.parameters).toEqual(prompt.variables)
    const steps = await stepsOf(prompt, scan.config)
    expectSteps(prompt, steps)
    const { settings, ...read } = readPromptConfig(steps[0]?.config ?? {}, prompt.name)
    if (prompt.settings) expect(settings).toEqual(prompt.settings)
    if (prompt.read) expect(read).toMatchObject(prompt.read)
  })

  it.each(cases.filter(({ error }) => error))('$name: $about', async (prompt) => {
    expect(await faultOf(prompt)).toMatchObject({ path: `corpus/${prompt.name}`, ...prompt.error })
  })

  it.each(cases.filter(({ source }) => source === 'engine'))(
    '$name matches the output of promptl-ai',
    async (prompt) => {
      const source = sourceOf(prompt)
      const answers = (prompt.answers ?? []).map(String)
      const alone = await runEngineAlone(source, structuredClone(prompt.parameters ?? {}), answers)
      const { config } = await engine.scan(source)
      const steps = await stepsOf(prompt, config)
      expect(steps.map((step) => ({ messages: step.input, config: step.config }))).toEqual(alone)
    },
  )

  it('resolves to a text that renders the same messages', async () => {
    const referring = cases.filter(({ error, documents, answers }) => !error && documents && !answers)
    expect(referring.length).toBeGreaterThan(5)
    for (const prompt of referring) {
      const { config, resolvedContent } = await engine.scan(sourceOf(prompt))
      const [whole] = await stepsOf(prompt, config)
      const [resolved] = await stepsOf({ ...prompt, content: resolvedContent, documents: {} }, config)
      expect(resolved?.input).toEqual(whole?.input)
    }
  })

  it('has enough cases, most of them written by hand', () => {
    expect(cases.length).toBeGreaterThanOrEqual(150)
    expect(cases.filter(({ source }) => source === 'spec').length).toBeGreaterThanOrEqual(100)
    expect(cases.filter(({ error }) => error).length).toBeGreaterThanOrEqual(12)
  })
})
