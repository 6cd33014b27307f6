/** JSON Lines: read exactly, or refused with the line. */
import { expect, test } from 'vitest'
import { jsonlOf, readJsonl } from '../../src/commands/examples/rows/read-jsonl.ts'
import { isUnchanged, nameRows, RefusedRow } from '../../src/commands/examples/rows/row.ts'

const empty = { messages: [], expected: null, checks: [], toolResults: {}, tags: [] }
const read = (text: string) => readJsonl('rows.jsonl', text)

test.each<[string, string, object[]]>([
  [
    'a name and parameters',
    '{"name":"n","parameters":{"a":"007"}}',
    [{ name: 'n', line: 1, change: { ...empty, parameters: { a: '007' } } }],
  ],
  ['what is left out as empty', '{"parameters":{}}', [{ change: { ...empty, parameters: {} } }]],
  ['null as left out', '{"parameters":{},"tags":null,"name":null}', [{ change: { ...empty, parameters: {} } }]],
  ['an expected text', '{"parameters":{},"expected":""}', [{ change: { expected: '' } }]],
  [
    'an expected object in its order',
    '{"parameters":{},"expected":{"z":1,"a":[null]}}',
    [{ change: { expected: { z: 1, a: [null] } } }],
  ],
  ['an expected null as nothing', '{"parameters":{},"expected":null}', [{ change: { expected: null } }]],
  [
    'messages, checks, results and tags',
    '{"parameters":{},"messages":[{"role":"user","content":"x"}],"checks":[{"type":"latency","max":1}],"toolResults":{"f":[{"result":null}]},"tags":["must"]}',
    [
      {
        change: {
          messages: [{ role: 'user', content: 'x' }],
          checks: [{ type: 'latency', max: 1 }],
          toolResults: { f: [{ result: null }] },
          tags: ['must'],
        },
      },
    ],
  ],
  ['empty lines', '\n{"parameters":{}}\n  \n{"parameters":{"a":1}}\n', [{ line: 2 }, { line: 4 }]],
  ['Windows line ends', '{"parameters":{}}\r\n{"parameters":{"a":1}}\r\n', [{ line: 1 }, { line: 2 }]],
  [
    'nested values',
    '{"parameters":{"a":{"b":[1,{"c":false}]}}}',
    [{ change: { parameters: { a: { b: [1, { c: false }] } } } }],
  ],
  ['escapes', '{"parameters":{"a":"\\u00e9\\n\\ud83d\\ude00"}}', [{ change: { parameters: { a: 'é\n😀' } } }]],
  [
    'exact numbers, and digits in texts',
    '{"parameters":{"a":9007199254740992,"b":0.1,"c":1e22,"d":"\\"9007199254740993"}}',
    [{ change: { parameters: { a: 2 ** 53, b: 0.1, c: 1e22, d: '"9007199254740993' } } }],
  ],
  ['nothing in an empty file', '', []],
])('reads %s', (_rule, text, rows) => {
  expect(read(text)).toMatchObject(rows)
  expect(read(text)).toHaveLength(rows.length)
})

test.each<[string, string, number, string]>([
  ['broken JSON', '{"parameters":{}}\n{"parameters":}\n', 2, 'not JSON'],
  ['a rounded number', '{"parameters":{"a":[9007199254740993]}}', 1, '9007199254740993 has more digits than a number'],
  ['a rounded negative number', '{"parameters":{},"expected":-123456789012345678901}', 1, 'has more digits'],
  ['an infinite number', '{"parameters":{"a":1e999}}', 1, '1e999 is not a finite number'],
  ['a list', '[{"parameters":{}}]', 1, 'a row is a JSON object'],
  ['a row over several lines', '{\n"parameters": {} }', 1, 'not JSON'],
  ['an unknown key', '{"parameters":{},"expect":"x"}', 1, 'unknown key "expect"'],
  ['a name of a built-in property', '{"parameters":{},"constructor":"x"}', 1, 'unknown key "constructor"'],
  ['a row without parameters', '\n{"name":"n"}', 2, '"parameters" is missing'],
  ['parameters as a list', '{"parameters":[]}', 1, '"parameters" must be an object'],
  ['a number as a name', '{"parameters":{},"name":1}', 1, '"name" must be a text'],
  ['tags that are no texts', '{"parameters":{},"tags":[1]}', 1, '"tags" must be a list of texts'],
  ['a name twice', '{"parameters":{},"name":"n"}\n\n{"parameters":{},"name":"n"}', 3, 'is also in line 1'],
])('refuses %s', (_rule, text, line, message) => {
  let refusal: unknown
  try {
    nameRows(read(text))
  } catch (error) {
    refusal = error
  }
  expect(refusal).toBeInstanceOf(RefusedRow)
  expect(refusal).toMatchObject({ file: 'rows.jsonl', line, message: expect.stringContaining(message) })
})

test('a row is written as it is read, and is then unchanged', () => {
  const change = { ...empty, parameters: { z: 1, a: 'é' }, expected: { ok: [null] }, tags: ['must'] }
  const line = jsonlOf({ name: 'n', ...change })
  expect(line).toBe('{"name":"n","parameters":{"z":1,"a":"é"},"expected":{"ok":[null]},"tags":["must"]}')
  expect(read(line)).toEqual([{ file: 'rows.jsonl', line: 1, name: 'n', change }])
  expect(isUnchanged({ ...change, uuid: 'u' }, change)).toBe(true)
  expect(isUnchanged({ ...change, parameters: { a: 'é', z: 1 } }, change)).toBe(false)
  const stored = { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }], tags: ['a'] }
  expect(isUnchanged(stored, { messages: [{ role: 'user', content: 'x' }], tags: ['a', 'a'] })).toBe(true)
})
