import { compilePrompt, renderStep, slotPlanOf } from '@stet/template'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wellFormedJson } from '../../src/adapters/template-workers/protocol.ts'
import * as workers from '../../src/adapters/template-workers/slot-plan.ts'
import { parameterValues } from '../../src/features/templates/parameters.ts'
import type { TemplateSource } from '../../src/features/templates/template-engine.ts'
import { corpusCases, sourceOf as corpusSource } from '../corpus/case.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { now, sourceOf, startEngine, type TestEngine } from './support/engine.ts'

type Parameters = Record<string, unknown>

const wanted = count(500, 30_000)

/**
 * Returns the results of the slot plan and of the evaluator, as a worker process would send them. Undefined without a
 * slot plan.
 */
async function bothWays(source: TemplateSource, parameters: Parameters) {
  const prompt = await compilePrompt(source)
  const messages = slotPlanOf(prompt)
  const plan = messages && workers.slotPlanOf(messages, prompt.config)
  const joined = plan && workers.joinSlots(plan, parameters)
  if (!joined) return undefined
  const rendered = await renderStep(prompt, { parameters, now })
  const asSent = JSON.parse(wellFormedJson(JSON.stringify(rendered)))
  return { joined: { ...joined, state: undefined }, rendered: { ...asSent, state: undefined } }
}

const texts = [
  ...[
    'word',
    ' ',
    '\n',
    '\n\n',
    '  two\n    lines\n',
    '\t',
    '\r\n',
    'ünïcode 😀',
    '\u2028',
    '\uFEFF',
    '\u00A0 x',
    '---',
  ],
  ...[
    '&lt;b&gt;',
    '/* note */',
    '<!-- note -->',
    '`code`',
    '\\',
    '"quoted"',
    '# head\n',
    '- item\n',
    '{ brace }',
    'a\n\tb',
  ],
]
const values = [
  ...[
    '',
    ' ',
    '\n',
    'plain',
    ' spaced ',
    '  indented\n    lines\n  here',
    '\n\nblank before',
    'tail\n',
    '\t\ttab',
    '1',
  ],
  ...['<user>markup</user>', '{{ name }}', '&amp;', '\\{{ x }}', '😀', '\uD83D', '\uDE00', 'nul\0', '\u2028', 'null'],
  ...['\uFEFFmark', '---\nmodel: x\n---', 0, -0, 1.5, 1e21, 1e-7, -3, true, false, null, [], {}, [1, 'two', null]],
  ...[{ a: { b: ['c\n'] } }, { toJSON: 1 }, { text: 'lone \uD800' }, ['\n  a', '\n b']],
  { __promptlType: 'file', url: 'http://x', isImage: true },
] as const
const names = ['name', 'other', '_third', 'ünï', 'camelCase', 'constructorOf']

function randomPrompt(random: Random): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const inside = (): string =>
    Array.from({ length: Math.floor(random() * 5) }, () =>
      random() < 0.5 ? pick(texts) : `{{ ${pick(names)} }}`,
    ).join('')
  const piece = (): string => {
    const tag = pick(['system', 'developer', 'user', 'assistant', undefined])
    return tag === undefined ? inside() : `<${tag}>${inside()}</${tag}>`
  }
  const body = Array.from({ length: Math.floor(random() * 5) }, piece).join(pick(['', '\n', ' \n  ']))
  return random() < 0.5 ? body : `---\nmodel: m\nisolated: true\n---\n${body}`
}

describe('slot plan', () => {
  it('renders the corpus like the evaluator', async () => {
    let planned = 0
    for (const prompt of corpusCases()) {
      const { config } = await compilePrompt(corpusSource(prompt))
      if (prompt.error) continue
      const both = await bothWays(corpusSource(prompt), parameterValues(config, prompt.parameters ?? {}))
      if (!both) continue
      planned += 1
      expect(both.joined, prompt.name).toEqual(both.rendered)
    }
    expect(planned).toBeGreaterThan(10)
  })

  it(
    'renders random prompts and values like the evaluator',
    async () => {
      const random = seededRandom(seed)
      let compared = 0
      for (let made = 0; compared < wanted; made += 1) {
        expect(made, 'most prompts of this kind have a plan').toBeLessThan(10 * wanted)
        const content = randomPrompt(random)
        const parameters = Object.fromEntries(names.map((name) => [name, values[Math.floor(random() * values.length)]]))
        const both = await bothWays(sourceOf(content), parameters)
        if (!both) continue
        compared += 1
        expect(both.joined, JSON.stringify({ seed, content, parameters })).toEqual(both.rendered)
      }
    },
    timeFor(wanted, 10),
  )

  it.each([
    '{{ a.b }}',
    '{{ a + 1 }}',
    '{{ a = 1 }}{{ a }}',
    '{{ $now }}',
    '{{ undefined }}',
    '{{ if a }}x{{ endif }}',
    '{{ for a in b }}{{ a }}{{ endfor }}',
    '<step>{{ a }}</step>',
    '<user name="x">{{ a }}</user>',
    '<message role="user">{{ a }}</message>',
    '<user><content-text>{{ a }}</content-text></user>',
    '<tool id="1" name="t">{{ a }}</tool>',
    '<scope a={{ b }}>{{ a }}</scope>',
  ])('leaves %s to the evaluator', async (content) => {
    const prompt = await compilePrompt(sourceOf(content))
    expect(prompt.issues).toEqual([])
    expect(slotPlanOf(prompt)).toBeUndefined()
  })
})

describe('engine with slot plans', () => {
  let engine: TestEngine
  beforeAll(async () => {
    engine = await startEngine({ poolSize: 1, timeoutMs: 5_000 })
  })
  afterAll(() => engine.close())

  it('needs a worker process for all but plain prompts that it has already scanned', async () => {
    const plain = sourceOf('---\nmodel: m\n---\nBe brief.\n<user>\n  About {{ topic }}\n</user>')
    const computed = sourceOf('{{ topic + 1 }}')
    const byChild = await engine.step({ source: plain, parameters: { topic: 'rivers' }, now })
    const { slots } = await engine.scan(plain)
    expect(await engine.scan(computed)).toMatchObject({ slots: undefined })
    await engine.close()
    const step = await engine.step({ source: plain, slots, parameters: { topic: 'rivers' }, now })
    expect({ ...step, state: undefined }).toEqual({ ...byChild, state: undefined })
    const refused = { code: 'ServiceUnavailableError' }
    await expect(engine.step({ source: computed, parameters: { topic: 1 }, now })).rejects.toMatchObject(refused)
    // A missing value, a file, or too much text to join in the server needs a worker process.
    const file = { __promptlType: 'file', url: 'http://x', isImage: true }
    for (const parameters of [{}, { topic: file }, { topic: 'x'.repeat(70_000) }]) {
      await expect(engine.step({ source: plain, slots, parameters, now })).rejects.toMatchObject(refused)
    }
  })
})
