/** The SDK renders every prompt of the server's corpus with the same result. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { answersOf, type CorpusCase, corpusCases, inFull, sourceOf } from '../../../server/test/corpus/case.ts'
import { RunError } from '../../src/index.ts'
import { type Rendered, render, renderChain } from '../../src/render/index.ts'

type Messages = ReturnType<typeof inFull>
type Part = Messages[number]['content'][number]

const cases = corpusCases()

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-02T03:04:05.000Z') })
})
afterAll(() => {
  vi.useRealTimers()
})

function optionsOf(prompt: CorpusCase) {
  const { path, content, documents } = sourceOf(prompt)
  const options = { parameters: prompt.parameters ?? {}, references: { ...documents }, fullPath: path }
  return { content, options: { ...options, adapter: 'default' as const } }
}

/** Runs the whole chain with the case's model and tool responses. Returns each step's first input too. */
async function chainOf(prompt: CorpusCase): Promise<{ steps: Rendered<unknown>[]; whole: Rendered<unknown> }> {
  const answers = answersOf(prompt)
  const said = answers.flat().filter(({ role }) => role === 'assistant')
  const results = answers.flat().flatMap(({ content }) => content.filter((part) => part.type === 'tool-result'))
  const called = said.flatMap(({ content }) => content.filter((part) => part.type === 'tool-call'))
  const handler = (_args: unknown, { id }: { id: string }) => results.find((part) => part.toolCallId === id)?.result
  const steps: Rendered<unknown>[] = []
  const { content, options } = optionsOf(prompt)
  const whole = await renderChain<unknown>(content, {
    ...options,
    tools: Object.fromEntries(called.map((part: Part) => [String(part['toolName']), handler])),
    async onStep({ step, config, messages }) {
      steps[step - 1] ??= { config, messages: structuredClone(messages) }
      const next = said.shift()
      if (!next) throw new Error('A model call has no answer')
      return { content: next.content }
    },
  })
  expect(said).toEqual([])
  return { steps, whole }
}

describe('a prompt of the corpus', () => {
  it.each(cases.filter(({ error }) => !error))('$name: $about', async (prompt) => {
    const { content, options } = optionsOf(prompt)
    const first = await render(content, options)
    const expected = prompt.steps ?? []
    expect(first.messages).toEqual(inFull(expected[0]?.input ?? expected[0]?.added ?? []))
    if (expected[0]?.config) expect(first.config).toEqual(expected[0].config)
    if (!prompt.answers) return
    const { steps, whole } = await chainOf(prompt)
    const answers = answersOf(prompt)
    expect(whole.messages).toEqual(expected.flatMap(({ added }, at) => [...inFull(added), ...(answers[at] ?? [])]))
    expect(steps).toHaveLength(expected.length)
    for (const [at, { input, config }] of expected.entries()) {
      if (input) expect(steps[at]?.messages).toEqual(inFull(input))
      if (config) expect(steps[at]?.config).toEqual(config)
    }
  })

  it.each(cases.filter(({ error }) => error))('$name: $about', async (prompt) => {
    const failed = prompt.answers ? chainOf(prompt) : render(optionsOf(prompt).content, optionsOf(prompt).options)
    const error: unknown = await failed.catch((reason: unknown) => reason)
    if (!(error instanceof RunError)) throw error
    const { code, ...place } = prompt.error ?? {}
    const { message, ...details } = place
    expect(error).toMatchObject({ status: 422, errorCode: 'chain_compile_error' })
    expect(error.details).toMatchObject({ compileCode: code, path: `corpus/${prompt.name}`, ...details })
    if (message) expect(error.message).toContain(message)
  })

  it('is one of at least 100 prompts', () => {
    expect(cases.length).toBeGreaterThanOrEqual(100)
  })
})
