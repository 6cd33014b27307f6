/** Answers are checked against their schemas in the evaluation thread. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstStep, patient, sourceOf, startEngine, type TestEngine } from './support/engine.ts'

let engine: TestEngine
/** For schemas that use up the time of an evaluation. */
let brief: TestEngine
beforeAll(async () => {
  engine = patient(await startEngine())
  brief = patient(await startEngine({ timeoutMs: 400 }))
})
afterAll(async () => {
  await engine.close()
  await brief.close()
})

const closed = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'array', items: { $ref: '#/$defs/day' } } },
  required: ['city'],
  additionalProperties: false,
  $defs: { day: { type: 'object', properties: { high: { type: 'integer', minimum: -90 } } } },
}

/** Each definition applies the next one twice. */
function doubling(levels: number): string {
  const twice = (name: number) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] })
  const definitions = Array.from({ length: levels }, (_, level) => [level, level === 0 ? {} : twice(level - 1)])
  return JSON.stringify({ $ref: `#/$defs/${levels - 1}`, $defs: Object.fromEntries(definitions) })
}

type Issue = [path: string, words: string]
const cases: [string, Record<string, unknown>, unknown, Issue[]][] = [
  ['a valid value', closed, { city: 'Rome', days: [{ high: 20 }] }, []],
  ['a missing key', closed, { days: [] }, [['', 'required property "city"']]],
  [
    'a wrong type behind a reference',
    closed,
    { city: 'Rome', days: [{}, { high: 'x' }] },
    [['/days/1/high', 'integer']],
  ],
  ['a number below its minimum', closed, { city: 'Rome', days: [{ high: -91 }] }, [['/days/0/high', '-90']]],
  ['a key that is not allowed', closed, { city: 'Rome', more: 1 }, [['/more', 'boolean schema']]],
  ['a value that is not in an enum', { enum: ['a', 'b'] }, 'c', [['', '["a","b"]']]],
  [
    'several issues',
    closed,
    { city: 1, days: 2 },
    [
      ['/city', 'string'],
      ['/days', 'array'],
    ],
  ],
  ['a pattern', { type: 'string', pattern: '^\\p{Lu}+$' }, 'ÄÖ', []],
  ['a format', { type: 'string', format: 'date' }, 'soon', [['', 'date']]],
  ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }], items: false }, ['a', 1], [['/1', 'boolean schema']]],
  [
    'a tuple of draft 7',
    { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] },
    [1],
    [['/0', 'string']],
  ],
  ['one of several schemas', { anyOf: [{ type: 'string' }, { type: 'null' }] }, null, []],
  ['an unknown keyword', { type: 'string', 'x-note': 1 }, 'a', []],
  ['no keyword', {}, [1], []],
]

it.each(cases)('checks %s', async (_name, schema, value, issues) => {
  const check = await engine.checkAnswer({ schema, value })
  const found = issues.map(([path, words]) => ({ path, message: expect.stringContaining(words) }))
  expect(check).toEqual({ issues: found })
})

it('lists at most five issues', async () => {
  const check = await engine.checkAnswer({ schema: { items: { type: 'string' } }, value: [...Array(100).keys()] })
  expect(check).toMatchObject({ issues: { length: 5 } })
})

describe('a schema that cannot be applied', () => {
  it.each<[string, string, object]>([
    ['a part without an end', 'schema:\n  items: { $ref: "#/items" }\n', { code: 'invalid-schema', line: 2 }],
    [
      'too many parts',
      `schema: ${doubling(30)}\n`,
      { code: 'limit-exceeded', message: expect.stringMatching(/too long/) },
    ],
  ])('does not compile: %s', async (_name, schema, issue) => {
    const { errors } = await brief.scan(sourceOf(`---\n${schema}---\nHi`))
    expect(errors).toEqual([expect.objectContaining(issue)])
    expect((await brief.scan(sourceOf(`---\n${schema}validate: false\n---\nHi`))).errors).toEqual([])
  })

  it('of a step fails the step', async () => {
    const step = (schema: string) => firstStep(engine, `<step schema={{ ${schema} }}>Hi</step>`)
    await expect(step('{ required: 5 }')).rejects.toMatchObject({
      code: 'chain_compile_error',
      issue: { line: 1, column: 7 },
    })
    expect(await step('{ pattern: "[\\\\w-.]" }')).toMatchObject({ config: { schema: {} } })
  })

  it.each<[string, Record<string, unknown>, unknown, RegExp]>([
    ['an unknown reference', { $ref: '#/$defs/none' }, 1, /ref/i],
    ['a remote reference', { $ref: 'https://schemas.test/a.json' }, 1, /ref/i],
    ['an invalid pattern', { pattern: '(' }, 'a', /regular expression/i],
    ['a pattern that takes too long', { pattern: '^(a+)+$' }, `${'a'.repeat(40)}b`, /took too long/],
    ['a schema without an end', { $ref: '#' }, 1, /.+/],
  ])('is a failure: %s', async (_name, schema, value, failure) => {
    expect(await brief.checkAnswer({ schema, value })).toEqual({ failure: expect.stringMatching(failure) })
    expect(await brief.checkAnswer({ schema: { type: 'string' }, value: 'a' })).toEqual({ issues: [] })
  })
})
