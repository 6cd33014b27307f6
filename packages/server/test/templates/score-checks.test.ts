/** The checks of answers. Patterns and schemas run in the evaluation thread. */
import type { Check } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkRunner, type Score, type ScoredAnswer } from '../../src/features/evaluations/checks/score.ts'
import { scoreChecks } from '../../src/features/evaluations/score-checks.ts'
import { count } from '../support/counts.ts'
import { patient, startEngine, type TestEngine, workspaceOne } from './support/engine.ts'

let engine: TestEngine
beforeAll(async () => {
  engine = patient(await startEngine({ timeoutMs: 150 }))
})
afterAll(() => engine.close())

type Given = string | Partial<ScoredAnswer>

function answerOf(given: Given): ScoredAnswer {
  return { text: '', durationMs: 1_000, ...(typeof given === 'string' ? { text: given } : given) }
}

function scoreOf(checks: Check | Check[], given: Given, expected?: unknown, workspaceId = 1): Promise<Score> {
  const runner = checkRunner(engine, { ...workspaceOne, workspaceId })
  return scoreChecks(runner, { checks: [checks].flat(), answer: answerOf(given), expected })
}

/** `pass`, `fail` or the code of an unscored answer. */
const word = (score: Score): string => (score.state === 'unscored' ? score.code : score.hasPassed ? 'pass' : 'fail')

const object = (value: unknown): Given => ({ text: JSON.stringify(value), object: value })
const order = object({ id: 7, 'a/b': 'x', 'm~n': 'y', list: ['Rome', 'Köln'], ok: true, none: null, '': 'empty' })
const nfd = 'Cafe\u0301'
const exact = (value: unknown, more: object = {}): Check => ({ type: 'exact', value, ...more })
const all = (...texts: string[]): Check => ({ type: 'contains', all: texts })
const any = (...texts: string[]): Check => ({ type: 'contains', any: texts })
const not = (check: Check): Check => ({ ...check, negate: true })
const regex = (pattern: string, flags?: string): Check => ({ type: 'regex', pattern, ...(flags ? { flags } : {}) })
const schema = (inner: Record<string, unknown>): Check => ({ type: 'json_schema', schema: inner })
const city = schema({ type: 'object', required: ['city'], properties: { city: { type: 'string' } } })
const failed = (code: string, isOwn: boolean): Given => ({ error: { code, isOwn }, costUsd: 0.01 })
const cost = (max: number): Check => ({ type: 'cost', max })
const latency = (max: number): Check => ({ type: 'latency', max })

type Case = [checks: Check | Check[], answer: Given, expected: unknown, result: string]

const cases: Record<string, Case[]> = {
  exact: [
    [exact('Yes'), 'Yes', undefined, 'pass'],
    [exact('Yes'), 'yes', undefined, 'fail'],
    [exact('Yes', { caseSensitive: false }), 'yES', undefined, 'pass'],
    [exact('Yes'), ' Yes\n', undefined, 'pass'],
    [exact('Yes', { trim: false }), ' Yes', undefined, 'fail'],
    [exact(' Yes', { trim: false }), ' Yes', undefined, 'pass'],
    [exact(''), ' \n', undefined, 'pass'],
    [exact(''), 'x', undefined, 'fail'],
    [exact('Straße', { caseSensitive: false }), 'STRASSE', undefined, 'pass'],
    [exact('ΟΔΟΣ', { caseSensitive: false }), 'οδος', undefined, 'pass'],
    [exact('Café'), nfd, undefined, 'pass'],
    [exact(nfd, { caseSensitive: false }), 'CAFÉ', undefined, 'pass'],
    [exact('👩‍👩‍👧'), '👩‍👩‍👧', undefined, 'pass'],
    [exact('👩‍👩‍👧'), '👩‍👩‍👦', undefined, 'fail'],
    [exact('e'), 'é', undefined, 'fail'],
    [{ type: 'exact' }, 'Yes', 'Yes', 'pass'],
    [{ type: 'exact' }, 'Yes', 'No', 'fail'],
    [{ type: 'exact' }, 'Yes', undefined, 'no-expected'],
    [{ type: 'exact' }, 'Yes', null, 'no-expected'],
    [not({ type: 'exact' }), 'Yes', undefined, 'no-expected'],
    [exact('Yes'), 'Yes', 'No', 'pass'],
    [not(exact('Yes')), 'No', undefined, 'pass'],
    [not(exact('Yes')), 'Yes', undefined, 'fail'],
    [exact({ a: 1, b: [2] }), object({ b: [2], a: 1 }), undefined, 'pass'],
    [exact({ a: 1 }), '{ "a": 1.0 }', undefined, 'pass'],
    [exact({ a: 1 }), object({ a: 1, b: 2 }), undefined, 'fail'],
    [exact({ a: 1 }), 'a is 1', undefined, 'fail'],
    [exact([1, 2]), object([2, 1]), undefined, 'fail'],
    [{ type: 'exact' }, object({ a: 1, b: 2 }), '{ "b": 2, "a": 1 }', 'pass'],
    [exact(42), '42', undefined, 'pass'],
    [exact(42), '42.0', undefined, 'pass'],
    [exact(42), '43', undefined, 'fail'],
    [exact(true), 'true', undefined, 'pass'],
    [exact(false), 'no', undefined, 'fail'],
    [exact('007'), '7', undefined, 'fail'],
    [exact(7, { field: '/id' }), order, undefined, 'pass'],
    [exact('7', { field: '/id' }), order, undefined, 'pass'],
    [exact('x', { field: '/a~1b' }), order, undefined, 'pass'],
    [exact('y', { field: '/m~0n' }), order, undefined, 'pass'],
    [exact('Köln', { field: '/list/1' }), order, undefined, 'pass'],
    [exact('empty', { field: '/' }), order, undefined, 'pass'],
    [exact('Rome', { field: '/list/00' }), order, undefined, 'fail'],
    [exact(2, { field: '/list/length' }), order, undefined, 'fail'],
    [exact('x', { field: '/toString' }), order, undefined, 'fail'],
    [not(exact('x', { field: '/missing' })), order, undefined, 'fail'],
    [exact('x', { field: '/id/deeper' }), order, undefined, 'fail'],
    [exact(7, { field: '/id' }), 'no object', undefined, 'fail'],
    [exact(7, { field: '/id' }), '{"id":7}', undefined, 'pass'],
    [{ type: 'exact', field: '/ok' }, order, true, 'pass'],
    [exact('null', { field: '/none' }), order, undefined, 'pass'],
    [exact({ a: 1 }), '['.repeat(100_000), undefined, 'fail'],
  ],
  contains: [
    [all('refund'), 'We REFUND it', undefined, 'pass'],
    [all('refund', 'order'), 'We refund it', undefined, 'fail'],
    [all('refund', 'order'), 'Refund of order 7', undefined, 'pass'],
    [any('refund', 'money back'), 'Your money back!', undefined, 'pass'],
    [any('refund', 'money back'), 'Sorry', undefined, 'fail'],
    [{ ...all('Refund'), caseSensitive: true } as Check, 'refund', undefined, 'fail'],
    [{ ...all('Refund'), caseSensitive: true } as Check, 'Refund', undefined, 'pass'],
    [all('GROSSE'), 'die große Frage', undefined, 'pass'],
    [all('Σοφός'), 'ὁ ΣΟΦΌΣ ἀνήρ', undefined, 'pass'],
    [all('Café'), `ein ${nfd} da`, undefined, 'pass'],
    [all('日本'), '日本語', undefined, 'pass'],
    [all('👍'), 'ok 👍🏽', undefined, 'pass'],
    [all(' '), 'ab', undefined, 'fail'],
    [all('.*'), 'anything', undefined, 'fail'],
    [{ type: 'contains' }, 'We refund it', 'refund', 'pass'],
    [{ type: 'contains' }, 'We refund it', 'order', 'fail'],
    [{ type: 'contains' }, 'Order 7 of Rome', ['rome', 'order'], 'pass'],
    [{ type: 'contains' }, 'Order 7', ['rome', 'order'], 'fail'],
    [{ type: 'contains' }, 'Order 7', 7, 'pass'],
    [{ type: 'contains' }, 'Order 7', { id: 7 }, 'no-expected'],
    [{ type: 'contains' }, 'Order 7', '', 'no-expected'],
    [{ type: 'contains' }, 'Order 7', undefined, 'no-expected'],
    [not(all('refund')), 'Sorry', undefined, 'pass'],
    [not(all('refund')), 'A refund', undefined, 'fail'],
    [not(all('refund', 'order')), 'A refund', undefined, 'pass'],
    [not(any('refund', 'order')), 'A refund', undefined, 'fail'],
    [not(any('refund', 'order')), 'Sorry', undefined, 'pass'],
    [{ ...all('köln'), field: '/list' } as Check, order, undefined, 'pass'],
    [{ ...all('rome'), field: '/list/1' } as Check, order, undefined, 'fail'],
    [not({ ...all('x'), field: '/missing' } as Check), order, undefined, 'fail'],
    [all('"id":7'), order, undefined, 'pass'],
  ],
  regex: [
    [regex('^Order \\d+$'), 'Order 17', undefined, 'pass'],
    [regex('^Order \\d+$'), 'order 17', undefined, 'fail'],
    [regex('^Order \\d+$', 'i'), 'order 17', undefined, 'pass'],
    [regex('^b$'), 'a\nb', undefined, 'fail'],
    [regex('^b$', 'm'), 'a\nb', undefined, 'pass'],
    [regex('a.b'), 'a\nb', undefined, 'fail'],
    [regex('a.b', 's'), 'a\nb', undefined, 'pass'],
    [regex('^.$'), '😀', undefined, 'fail'],
    [regex('^.$', 'u'), '😀', undefined, 'pass'],
    [regex('^\\p{Script=Greek}+$', 'u'), 'αβγ', undefined, 'pass'],
    [regex(''), '', undefined, 'pass'],
    [not(regex('\\d')), 'no digits', undefined, 'pass'],
    [not(regex('\\d')), 'digit 1', undefined, 'fail'],
    [{ ...regex('^K'), field: '/list/1' } as Check, order, undefined, 'pass'],
    [{ ...regex('^\\d$'), field: '/id' } as Check, order, undefined, 'pass'],
    [{ ...regex('x'), field: '/missing' } as Check, order, undefined, 'fail'],
    [regex('('), 'x', undefined, 'invalid-check'],
  ],
  json_schema: [
    [city, object({ city: 'Rome' }), undefined, 'pass'],
    [city, '{"city":"Rome"}', undefined, 'pass'],
    [city, object({ city: 7 }), undefined, 'fail'],
    [city, 'Rome', undefined, 'fail'],
    [not(city), 'Rome', undefined, 'fail'],
    [not(city), object({ city: 7 }), undefined, 'pass'],
    [not(city), object({ city: 'Rome' }), undefined, 'fail'],
    [{ ...schema({ type: 'integer' }), field: '/id' } as Check, order, undefined, 'pass'],
    [{ ...schema({ type: 'null' }), field: '/none' } as Check, order, undefined, 'pass'],
    [{ ...schema({ prefixItems: [{ const: 'Rome' }] }), field: '/list' } as Check, order, undefined, 'pass'],
    [schema({ type: 'string', minLength: 2, maxLength: 2 }), '"👍👍"', undefined, 'pass'],
    [schema({ $ref: '#/$defs/a', $defs: { a: { type: 'object' } } }), object({}), undefined, 'pass'],
    [schema({ $ref: 'https://example.com/a.json' }), object({}), undefined, 'invalid-check'],
    [schema({ $ref: '#' }), object({}), undefined, 'invalid-check'],
    [schema({ required: 5 }), object({ a: 1 }), undefined, 'invalid-check'],
    [schema({}), '1', undefined, 'pass'],
  ],
  'cost and latency': [
    [cost(0.01), { costUsd: 0.01 }, undefined, 'pass'],
    [cost(0.01), { costUsd: 0.011 }, undefined, 'fail'],
    [cost(0), { costUsd: 0 }, undefined, 'pass'],
    [cost(0.01), {}, undefined, 'cost-unknown'],
    [not(cost(0.01)), {}, undefined, 'cost-unknown'],
    [not(cost(0.01)), { costUsd: 1 }, undefined, 'pass'],
    [latency(1_000), { durationMs: 1_000 }, undefined, 'pass'],
    [latency(999), { durationMs: 1_000 }, undefined, 'fail'],
    [not(latency(999)), { durationMs: 1_000 }, undefined, 'pass'],
  ],
  'several checks': [
    [[], 'x', 'x', 'no-expected'],
    [[all('a'), all('b')], 'ab', undefined, 'pass'],
    [[all('a'), all('c')], 'ab', undefined, 'fail'],
    [[all('a'), cost(1)], 'a', undefined, 'cost-unknown'],
    [[cost(1), all('b')], 'a', undefined, 'fail'],
    [[{ type: 'exact' }, cost(1)], 'a', undefined, 'no-expected'],
  ],
  'failed runs': [
    [all('x'), failed('invalid_response_format_error', true), undefined, 'fail'],
    [not(all('x')), failed('max_step_count_exceeded_error', true), undefined, 'fail'],
    [{ type: 'exact' }, failed('chain_compile_error', true), undefined, 'fail'],
    [[cost(1), latency(2_000)], failed('chain_compile_error', true), undefined, 'pass'],
    [[cost(1), all('x')], failed('chain_compile_error', true), undefined, 'fail'],
    [all('x'), failed('rate_limit_error', false), undefined, 'rate_limit_error'],
    [cost(1), failed('worker_lost', false), undefined, 'worker_lost'],
  ],
}

describe.each(Object.entries(cases))('%s', (_name, table) => {
  it.each(table)('%j of %j with %j: %s', async (checks, given, expected, result) => {
    expect(word(await scoreOf(checks, given, expected))).toBe(result)
  })
})

it.each<[Check | Check[], Given, string]>([
  [exact('Yes'), 'No', 'is not "Yes"'],
  [exact('x'.repeat(200)), 'No', `is not "${'x'.repeat(80)}…"`],
  [not(exact('Yes')), 'Yes', 'is "Yes"'],
  [all('refund', 'order'), 'A refund', 'does not contain "order"'],
  [any('a', 'b'), 'x', 'contains none of "a", "b"'],
  [not(any('a', 'b')), 'b', 'contains "b"'],
  [regex('\\d', 'u'), 'x', 'does not match /\\d/u'],
  [city, object({ city: 7 }), '/city: The value type "number" is invalid. Expected "string".'],
  [cost(0.5), { costUsd: 0.75 }, '$0.75 is above $0.5'],
  [latency(10), { durationMs: 20.4 }, '20 ms is above 10 ms'],
  [exact('x', { field: '/a' }), object({}), 'The answer has no /a'],
  [[all('a'), all('b'), all('c')], 'a', 'does not contain "b"'],
])('the reason names the first failure: %j of %j', async (checks, given, reason) => {
  expect(await scoreOf(checks, given)).toMatchObject({ hasPassed: false, reason })
})

describe('hostile patterns and schemas', () => {
  const many = 'a'.repeat(50)
  const twice = (name: number) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] })
  const doubling = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [at, at === 0 ? {} : twice(at - 1)]))
  const patterns = ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^(a*)*$', '^([a-z]+)*$', '(a*)*b', '(a|a?)+b', '^(.*)*\\d$']
  const hostile: [Check, Given][] = [
    ...patterns.map((pattern): [Check, Given] => [regex(pattern), `${many}!`]),
    [regex('^(\\w+\\s?)*$'), `${'aaa '.repeat(25)}!`],
    [regex('(x+x+)+y'), 'x'.repeat(50)],
    [regex('^(([a-z])+.)+[A-Z]([a-z])+$'), many],
    [regex('(?=(a+))a*b|(a+)+c'), many],
    [regex('^(?:(?:a?){20}){20}$'), `${many}${many}!`],
    [regex('(.*?,){25}P'), '1,'.repeat(60)],
    [schema({ pattern: '^(a+)+$' }), `"${many}!"`],
    [schema({ patternProperties: { '^(a+)+$': {} } }), object({ [`${many}!`]: 1 })],
    [schema({ propertyNames: { pattern: '^(a|a)*$' } }), object({ [`${many}!`]: 1 })],
    [schema({ $ref: '#/$defs/29', $defs: doubling }), object({})],
    [schema({ items: { not: { pattern: '(a*)*b' } } }), object([many])],
    [schema({ anyOf: [{ pattern: '^(a|aa)+$' }, false] }), `"${many}!"`],
  ]

  // Every fourth one in CI. A workspace each, because two deaths by one rule refuse it for a minute.
  const numbered = hostile.map(([check, given], at) => [at + 10, check, given] as const)
  it.each(numbered.filter(([at]) => at % count(4, 1) === 0))(
    'contained in the thread, %i: %j',
    async (workspaceId, check, given) => {
      expect(word(await scoreOf(check, given, undefined, workspaceId))).toBe('limit-exceeded')
      expect(word(await scoreOf(regex('a'), 'a', undefined, workspaceId))).toBe('pass')
    },
  )

  it('a rule that ended the thread twice costs nothing for a minute, whatever the answer', async () => {
    const check = regex('^(a+)+$')
    for (const end of ['!', '?']) {
      expect(word(await scoreOf(check, `${many}${end}`, undefined, 99))).toBe('limit-exceeded')
    }
    expect(await scoreOf(check, 'aaa', undefined, 99)).toMatchObject({ reason: expect.stringContaining('in a minute') })
  })
})
