import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rowsOfConfig } from '../src/editor/panes/config-rows.ts'
import { placeOfValue } from '../src/editor/text/yaml-place.ts'

const shown = (of: 'schema' | 'tools', value: unknown) =>
  rowsOfConfig(of, value, new Set()).rows.map(({ level, name, type, isRequired, description }) =>
    [' '.repeat(level - 1) + name, type, isRequired ? '*' : '', description].filter(Boolean).join(' '),
  )

test('a schema has its keys with types, marks and descriptions', () => {
  const schema = {
    type: 'object',
    required: ['urgency'],
    properties: {
      urgency: { enum: ['low', 'high'], description: 'How soon' },
      tags: { type: 'array', items: { type: ['string', 'null'] } },
      either: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/x' }] },
    },
    $defs: { x: true },
  }
  expect(shown('schema', schema)).toEqual([
    'schema object',
    ' urgency one of low, high * How soon',
    ' tags array',
    '  each item string or null',
    ' either',
    '  choice 1 string',
    '  choice 2 #/$defs/x',
    ' x anything',
  ])
  const closed = rowsOfConfig('schema', schema, new Set(['["schema","properties","tags"]'])).rows
  expect(closed.map(({ name }) => name)).not.toContain('each item')
  expect(closed[2]).toMatchObject({ name: 'tags', isOpen: false, position: 2, siblings: 4 })
})

test('odd front matter is shown as far as it goes', () => {
  expect(shown('schema', [1, { type: 3 }])).toEqual(['schema [1,{"type":3}]'])
  const tools = { a: 5, __b: ['x'], '<b>': { parameters: { properties: { x: true, y: 7 } } } }
  expect(shown('tools', tools)).toEqual(['a', '__b', '<b>', ' x anything', ' y 7'])
})

test('both shapes of tools have the same rows', () => {
  const weather = {
    description: 'Weather',
    parameters: { properties: { city: { type: 'string' } }, required: ['city'] },
  }
  const rows = ['get_weather Weather', ' city string *', 'stop']
  expect(shown('tools', { get_weather: weather, stop: null })).toEqual(rows)
  expect(shown('tools', [{ get_weather: weather }, { stop: {} }, 'latitude/search'])).toEqual([
    ...rows,
    'latitude/search',
  ])
})

test('whatever the front matter holds, the tree is bounded and every row has a key of its own', () => {
  let deep: unknown = { type: 'string' }
  for (let level = 0; level < 5000; level++) deep = { properties: { a: deep } }
  const wide = { properties: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key ${at}`, {}])) }
  const all = new Set(
    Array.from({ length: 100 }, (_, at) => JSON.stringify(['schema', ...Array(at).fill(['properties', 'a']).flat()])),
  )
  const opened = rowsOfConfig('schema', deep, new Set([...all].slice(2)))
  expect(opened.rows).toHaveLength(64)
  expect(opened.isCut).toBe(true)
  expect(rowsOfConfig('schema', wide, new Set()).rows).toHaveLength(400)
  fc.assert(
    fc.property(fc.constantFrom('schema' as const, 'tools' as const), fc.jsonValue(), (of, value) => {
      const { rows } = rowsOfConfig(of, value, new Set())
      expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
      for (const { name, type, path } of rows) {
        expect(`${typeof name} ${typeof type}`).toBe('string string')
        placeOfValue(`---\n${JSON.stringify({ [of]: value })}\n---\n`, path)
      }
    }),
  )
})

test('a row leads to its line, in block style, in flow style, and in lists', () => {
  const text = [
    '---',
    'model: x # schema: no',
    'schema:',
    '  description: |',
    '    properties:',
    '      a: not this one',
    '  # a: comment',
    '  properties:',
    '    "a b": { type: string, properties: { c: {} } }',
    '    b:',
    '      type: object',
    'tools:',
    '- first: { description: One }',
    '- second:',
    '    parameters:',
    '      properties:',
    '        city: {}',
    '- third',
    '---',
    'properties:',
  ].join('\r\n')
  const line = (...path: (string | number)[]) => placeOfValue(text, path)?.line
  expect(line('schema')).toBe(3)
  expect(line('schema', 'properties')).toBe(8)
  expect(line('schema', 'properties', 'a b')).toBe(9)
  expect(line('schema', 'properties', 'a b', 'properties', 'c')).toBe(9)
  expect(line('schema', 'properties', 'b', 'type')).toBe(11)
  expect(line('schema', 'properties', 'a')).toBe(8)
  expect(line('tools', 0, 'first')).toBe(13)
  expect(line('tools', 1, 'second', 'parameters', 'properties', 'city')).toBe(17)
  expect(line('tools', 2)).toBe(18)
  expect(line('tools', 3)).toBe(12)
  expect(line('agents')).toBe(undefined)
  expect(placeOfValue('no front matter', ['schema'])).toBe(null)
})
