import { expect, test } from 'vitest'
import type { PromptInput } from '../../runs/inputs/input-value.ts'
import { expectedIn } from './answer-texts.ts'
import { checkedBefore, containing, readPasted } from './paste.ts'

const input = (name: string, kind: PromptInput['kind'] = 'text'): PromptInput => ({
  ...{ name, kind, declared: kind, isRequired: true, description: null, fallback: undefined },
})
const inputs = [input('ticket'), input('urgency', 'number')]
const read = (...lines: string[]) => readPasted(lines.join('\n'), inputs, [])

test('columns are inputs by their kind, apart from name, expected and tags', () => {
  const { rows, problems, unknown } = read(
    'name\tticket\turgency\texpected\ttags\textra',
    'Late\tWhere is it?\t3\t{"ok": true}\tmust, must,slow\t007',
    'Two\t"a ""quoted""\tcell\r\nof two lines"\t\t\t\t',
    '\t"Odd" quotes\t1\tPlain\t\t',
    '\t\t\t\t\t',
  )
  expect(problems).toEqual([])
  expect(unknown).toEqual(['extra'])
  expect(rows).toEqual([
    {
      ...{ name: 'Late', parameters: { ticket: 'Where is it?', urgency: 3, extra: '007' } },
      ...{ expected: { ok: true }, tags: ['must', 'slow'] },
    },
    { name: 'Two', parameters: { ticket: 'a "quoted"\tcell\r\nof two lines' }, expected: null, tags: [] },
    { name: 'row 3', parameters: { ticket: '"Odd" quotes', urgency: 1 }, expected: 'Plain', tags: [] },
  ])
})

test.each([
  [
    ['ticket,urgency', '"a, b",2', 'c,3'],
    [
      { ticket: 'a, b', urgency: 2 },
      { ticket: 'c', urgency: 3 },
    ],
  ],
  [
    ['ticket\r', 'one\r', 'two\r', ''],
    [{ ticket: 'one' }, { ticket: 'two' }],
  ],
])('%j', (lines, parameters) => {
  expect(read(...lines).rows.map((row) => row.parameters)).toEqual(parameters)
})

test('a row without a name gets one that no example and no other row has', () => {
  const names = (...lines: string[]) =>
    readPasted(lines.join('\n'), inputs, ['row 1', 'row 2']).rows.map(({ name }) => name)
  expect(names('ticket', 'a', 'b')).toEqual(['row 3', 'row 4'])
  expect(names('name\tticket', '\ta', 'row 3\tb', '\tc')).toEqual(['row 4', 'row 3', 'row 5'])
})

test.each([
  [[''], 'There is nothing to paste.'],
  [['ticket\turgency'], 'There are no rows below the names of the columns.'],
  [['ticket\t', 'a\tb'], 'Column 2 has no name in the first line.'],
  [['ticket\tticket', 'a\tb'], 'Two columns have the name ticket.'],
  [['ticket\turgency', 'a\tsoon'], 'Line 2, urgency: This is not a number: soon'],
  [['ticket\turgency', 'a\t1\tb'], 'Line 2 has 3 cells, more than there are columns.'],
  [['name\tticket', 'A\tb', 'A\tc'], 'Two rows have the name A.'],
])('%j is refused', (lines, problem) => expect(read(...lines).problems).toEqual([problem]))

test.each([
  ['', null],
  ['007', '007'],
  ['{"a":1}', { a: 1 }],
  ['{half', '{half'],
])('%j is expected as %j', (text, value) => expect(expectedIn(text)).toEqual(value))

test('only texts can be contained, and the checks of an example stay', () => {
  const row = (name: string, expected?: unknown) => ({
    name,
    parameters: {},
    ...(expected !== undefined && { expected }),
  })
  const rows = [
    row('text', 'yes'),
    row('list', ['a', 'b']),
    row('object', { a: 1 }),
    row('mixed', ['a', 1]),
    row('none'),
  ]
  const contains = rows.map(containing).filter(({ checks }) => checks)
  expect(contains.map(({ name, checks }) => [name, checks])).toEqual([
    ['text', [{ type: 'contains' }]],
    ['list', [{ type: 'contains' }]],
  ])
  const checks = [{ type: 'regex' as const, pattern: 'y' }]
  const examples = ['text', 'none', 'other'].map((name) => ({ name, checks }))
  expect(checkedBefore(rows, [...examples, { name: 'list', checks: [] }])).toEqual(['text'])
})
