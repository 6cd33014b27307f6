/** A schema that cannot be applied to some answer is an issue of its prompt, before any answer is paid for. */
import { describe, expect, it } from 'vitest'
import { answerIssues, schemaIssues } from '../src/answer-schema.ts'
import { scan } from '../src/scan-and-step.ts'

function faultOf(schema: unknown): string | undefined {
  const [issue] = schemaIssues({ path: 'a', content: '' }, { schema })
  return issue?.message.replace('The schema cannot be applied: ', '')
}

const wrong = 'a keyword has a value of the wrong type'
const nested = (schema: unknown) => ({ properties: { a: { items: schema } } })

describe('a schema that cannot be applied', () => {
  it.each<[string, unknown, string]>([
    ['no map', 'object', 'it is not a map'],
    ['a list', [1], 'it is not a map'],
    ['a value of the wrong type', { required: 5 }, wrong],
    ['the same in a part', nested({ required: 5 }), `${wrong} (at /properties/a/items)`],
    ['a list of values that is none', { enum: 'a' }, wrong],
    ['a part that is null', { properties: { a: null } }, wrong],
    ['items that are null', { prefixItems: [{}], items: null }, wrong],
    ['alternatives that are no list', { anyOf: { type: 'string' } }, wrong],
    ['a dependency that is no list', { dependentRequired: { a: 5 } }, wrong],
    [
      'a pattern',
      nested({ pattern: '(' }),
      'invalid regular expression: /(/: Unterminated group (at /properties/a/items)',
    ],
    [
      'a pattern of names',
      { patternProperties: { '[': {} } },
      'invalid regular expression: /[/: Unterminated character class',
    ],
    ['an unknown reference', { $ref: '#/$defs/none' }, 'it refers to "#/$defs/none", which it does not contain'],
    ['a remote reference', { $ref: 'https://a.test/b' }, 'it refers to "https://a.test/b", which it does not contain'],
    [
      'the same in a part',
      nested({ $ref: '#/b' }),
      'it refers to "#/b", which it does not contain (at /properties/a/items)',
    ],
    ['an endless reference', { $ref: '#' }, 'it refers to itself without an end'],
    [
      'an endless circle',
      { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } },
      'it refers to itself without an end (at #/$defs/a/allOf/0)',
    ],
    ['the same, if a key is present', { dependentSchemas: { a: { $ref: '#' } } }, 'it refers to itself without an end'],
    [
      'a fault behind a reference',
      { $ref: '#/$defs/a', $defs: { a: nested({ required: 5 }) } },
      `${wrong} (at #/$defs/a/properties/a/items)`,
    ],
    [
      'one address for two parts',
      { $defs: { a: { $id: '/x' }, b: { $id: '/x', type: 'null' } } },
      'two of its parts have the same `$id`',
    ],
    ['an unknown type', nested({ type: 'text' }), '`type` names no type of JSON (at /properties/a/items)'],
    ['a type that YAML reads as null', { type: null }, '`type` names no type of JSON'],
  ])('%s', (_name, schema, fault) => {
    expect(faultOf(schema)).toBe(fault)
  })
})

describe('a schema that can be applied', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no keyword', {}],
    ['a pattern that is valid only without the flag u', nested({ pattern: '^[\\w-.]+$' })],
    ['such a pattern of names', { patternProperties: { '^[\\w-.]+$': { type: 'string' } } }],
    ['a list in itself', { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } }],
    ['a definition that is not used', { $defs: { a: { required: 5 } } }],
    ['a value under an unknown keyword', { example: { type: 'dog', required: true } }],
    [
      'a keyword that draft 7 ignores beside a reference',
      { $schema: 'draft-07', definitions: { a: {} }, $ref: '#/definitions/a', properties: { a: null } },
    ],
    ['a tuple of draft 7', { $schema: 'draft-07', items: [{ type: 'string' }, true], additionalItems: false }],
    ['one of several types', { type: ['string', 'any'] }],
    ['a part that refuses everything', { properties: { a: false } }],
  ])('%s', (_name, schema) => {
    expect(faultOf(schema)).toBeUndefined()
  })

  it('is not looked for if answers are not checked', () => {
    for (const validate of [false, 'false']) {
      expect(schemaIssues({ path: 'a', content: '' }, { schema: { required: 5 }, validate })).toEqual([])
    }
  })
})

it('applies a pattern without the flag u if it is invalid with it', () => {
  const schema: Record<string, unknown> = {
    properties: { a: { pattern: '^[\\w-.]+$' } },
    patternProperties: { '^[\\w-.]$': { type: 'null' } },
  }
  expect(answerIssues(schema, { a: 'b-c.d' })).toEqual([{ path: '/a', message: expect.stringContaining('null') }])
  expect(answerIssues(schema, { a: 'b c', b: null })).toHaveLength(2)
})

it('leaves regular expressions as they are', () => {
  const loose = '[\\w-.]'
  expect(() => answerIssues({ pattern: '(' }, 'a')).toThrow('invalid regular expression')
  expect(() => new RegExp(loose, 'u')).toThrow(SyntaxError)
})

it('names the line of the schema in the front matter, and of a step', async () => {
  const content = '---\nmodel: m\nschema:\n  required: 5\n---\n<step schema={{ a }}>Hi</step>'
  const { config } = await scan({ path: 'a', content, documents: {} })
  expect(schemaIssues({ path: 'a', content }, config)).toMatchObject([
    { code: 'invalid-schema', path: 'a', line: 3, column: 1, frame: expect.stringContaining('schema:') },
  ])
  const step = { ...config, schema: { $ref: '#' } }
  expect(schemaIssues({ path: 'a', content }, config, step)).toMatchObject([{ line: 6, column: 7 }])
  expect(schemaIssues({ path: 'a', content }, config, config)).toEqual([])
})
