/** Odd CSV files: read exactly, or refused with the line. */
import { expect, test } from 'vitest'
import { type CsvOptions, readCsv } from '../../src/commands/examples/rows/read-csv.ts'
import { nameRows, RefusedRow } from '../../src/commands/examples/rows/row.ts'

type Options = { map?: [string, string][]; types?: [string, 'text' | 'number' | 'boolean' | 'json'][] }
type Expected = (Record<string, unknown> & { line?: number })[]

const options = ({ map = [], types = [] }: Options): CsvOptions => ({ map: new Map(map), types: new Map(types) })

const read = (text: string, given: Options = {}) =>
  readCsv('rows.csv', text, options(given)).map(({ change, line, name }) => ({
    line,
    ...(name !== undefined && { name }),
    ...change,
  }))

/** One parameter `a`. */
const a = (value: unknown, more: object = {}) => ({ parameters: { a: value }, ...more })

test.each<[string, string, Expected, Options?]>([
  ['a cell is text, digits included', 'a,b\n007,1e3\n', [{ parameters: { a: '007', b: '1e3' } }]],
  [
    'columns with a meaning',
    'a,expected,name,tags\nx,y,n,must\n',
    [a('x', { expected: 'y', name: 'n', tags: ['must'] })],
  ],
  ['no expected answer in an empty cell', 'a,expected\nx,\n', [a('x', { expected: null })]],
  ['an empty text stays a parameter', 'a,b\n,x\n', [{ parameters: { a: '', b: 'x' } }]],
  ['quoted commas, quotes and line breaks', 'a\n"x, ""y""\nz"\n', [a('x, "y"\nz')]],
  ['the first line of a cell with several', 'a\n"x\n\ny"\nz\n', [a('x\n\ny', { line: 2 }), a('z', { line: 5 })]],
  ['Windows line ends', 'a,b\r\nx,y\r\n', [{ parameters: { a: 'x', b: 'y' } }]],
  ['line ends of old Macs', 'a,b\rx,y\r', [{ parameters: { a: 'x', b: 'y' } }]],
  ['no line end at the end', 'a\nx', [a('x')]],
  [
    'empty lines between rows',
    'a,b\n\nx,y\n\n\nz,w\n',
    [
      { parameters: { a: 'x', b: 'y' }, line: 3 },
      { parameters: { a: 'z', b: 'w' }, line: 6 },
    ],
  ],
  ['semicolons, if the header has no comma', 'a;b\n1,5;x\n', [{ parameters: { a: '1,5', b: 'x' } }]],
  ['tabs', 'a\tb\nx, y\tz\n', [{ parameters: { a: 'x, y', b: 'z' } }]],
  ['a comma inside of a quoted header', '"a, b"\nx\n', [{ parameters: { 'a, b': 'x' } }]],
  ['spaces around headers', ' a , b \n x ,y\n', [{ parameters: { a: ' x ', b: 'y' } }]],
  ['Unicode', 'größe,😀\nä,✓\n', [{ parameters: { größe: 'ä', '😀': '✓' } }]],
  ['a formula as text', 'a\n"=SUM(A1)"\n', [a('=SUM(A1)')]],
  [
    'names of built-in properties',
    '__proto__,constructor\nx,y\n',
    [{ parameters: JSON.parse('{"__proto__":"x","constructor":"y"}') }],
  ],
  ['typed numbers', 'a\n -1.5e2 \n+3\n.5\n', [a(-150), a(3), a(0.5)], { types: [['a', 'number']] }],
  ['no parameter in an empty typed cell', 'a,b\n,x\n', [{ parameters: { b: 'x' } }], { types: [['a', 'number']] }],
  ['typed booleans', 'a\ntrue\nFALSE\n', [a(true), a(false)], { types: [['a', 'boolean']] }],
  ['typed JSON', 'a\n"{""z"":1,""b"":[null]}"\n', [a({ z: 1, b: [null] })], { types: [['a', 'json']] }],
  [
    'an expected object',
    'a,expected\nx,"{""ok"":true}"\n',
    [a('x', { expected: { ok: true } })],
    { types: [['expected', 'json']] },
  ],
  [
    'tags by comma and semicolon',
    'a,tags\nx,"must, b;c,"\ny,\n',
    [a('x', { tags: ['must', 'b', 'c'] }), a('y', { tags: [] })],
  ],
  ['tags as JSON', 'a,tags\nx,"[""a,b""]"\n', [a('x', { tags: ['a,b'] })], { types: [['tags', 'json']] }],
  [
    'mapped columns',
    'Question,Answer,Id\nx,y,z\n',
    [a('x', { expected: 'y' })],
    {
      map: [
        ['Question', 'a'],
        ['Answer', 'expected'],
        ['Id', '-'],
      ],
    },
  ],
  [
    'a parameter called name',
    'name,a\nx,y\n',
    [{ parameters: { name: 'x', a: 'y' } }],
    { map: [['name', 'parameters.name']] },
  ],
  ['only a header', 'a,b\n', []],
])('reads %s', (_rule, text, expected, given) => {
  expect(read(text, given)).toMatchObject(expected)
  expect(read(text, given)).toHaveLength(expected.length)
})

test.each<[string, string, number, string, Options?]>([
  ['an empty file', '', 1, 'the file is empty'],
  ['too many cells', 'a,b\nx,y\nx,y,z\n', 3, 'the number of cells'],
  ['too few cells', 'a,b\nx,y\n\nx\n', 4, 'the number of cells'],
  ['an open quote', 'a\nx\n"y\nz\n', 3, 'a quote is not closed'],
  ['text after a quote', 'a,b\n"x"y,z\n', 2, 'text after a closing quote'],
  ['a quote inside of a cell', 'a,b\nx,y"z"\n', 2, 'a quote inside'],
  ['a column without a name', 'a,,b\nx,y,z\n', 1, 'column 2 has no name'],
  ['a column twice', 'a,b,a\nx,y,z\n', 1, 'the column "a" appears twice'],
  ['two columns for one field', 'a,b\nx,y\n', 1, 'two columns are mapped to the parameter a', { map: [['b', 'a']] }],
  ['an unknown column', 'a\nx\n', 1, 'there is no column "b", only a', { types: [['b', 'number']] }],
  [
    'a word as a number',
    'a\n1\n1,5\n'.replace('1,5', '"1,5"'),
    3,
    'column "a": "1,5" is no number',
    { types: [['a', 'number']] },
  ],
  [
    'a number that would be rounded',
    'a\n9007199254740992\n9007199254740993\n',
    3,
    'has more digits than a number can have',
    { types: [['a', 'number']] },
  ],
  ['a word as a boolean', 'a\nyes\n', 2, 'neither true nor false', { types: [['a', 'boolean']] }],
  ['a rounded number in JSON', 'a\n[9007199254740993]\n', 2, 'more digits', { types: [['a', 'json']] }],
  ['broken JSON', 'a\n{x}\n', 2, 'column "a": not JSON', { types: [['a', 'json']] }],
  ['tags that are no list', 'a,tags\nx,1\n', 2, 'must be a list of texts', { types: [['tags', 'json']] }],
  ['a NUL', 'a\nx\0\n', 2, 'has a character that is no text'],
])('refuses %s', (_rule, text, line, message, given) => {
  expect(refusalOf(() => read(text, given))).toEqual({ line, message: expect.stringContaining(message) })
})

function refusalOf(work: () => unknown) {
  try {
    work()
  } catch (error) {
    if (error instanceof RefusedRow) return { line: error.line, message: error.message }
    throw error
  }
  return undefined
}

test('rows without a name have one that follows from their inputs', () => {
  const named = (text: string) => nameRows(readCsv('rows.csv', text, options({}))).map(({ name }) => name)
  const [first, second, third] = named('q,expected\n"Where is\nmy order?",a\nHi,b\nHi,c\n')
  expect(first).toMatch(/^Where is my order\? · [0-9a-f]{8}$/)
  expect(third).toBe(`${second} 2`)
  // The order of rows and the expected answer do not count.
  expect(named('q,expected\nHi,x\n"Where is\nmy order?",y\n')).toEqual([second, first])
  expect(named('n\n\n')).toEqual([])
  expect(named('q,name\nx,\ny,given\n')[1]).toBe('given')
  expect(refusalOf(() => named('q,name\nx,n\ny,n\n'))).toEqual({ line: 3, message: 'the name "n" is also in line 2' })
  expect(refusalOf(() => named(`q,name\nx,${'n'.repeat(257)}\n`))).toMatchObject({ line: 2 })
})
