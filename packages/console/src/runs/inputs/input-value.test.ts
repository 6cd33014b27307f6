import { expect, test } from 'vitest'
import { bytesOf, sizeText } from '../../ui/data-url.ts'
import { draftsOf, inputsOf, longestTyped, missingIn, valuesOf } from './input-value.ts'
import { renamedInput } from './use-renamed-input.ts'

const declarations = { text: 'text', count: 'integer', flag: 'boolean', order: 'object', photo: 'image' }
const inputs = inputsOf({
  parameters: Object.fromEntries([...Object.keys(declarations), 'free'].map((name) => [name, { type: 'text' }])),
  config: { parameters: Object.fromEntries(Object.entries(declarations).map(([name, type]) => [name, { type }])) },
})
const photo = `data:image/png;base64,${'A'.repeat(40)}`

test('the fields of given values have these values, of every kind', () => {
  const values = { text: 'two\nlines', count: 4.5, flag: false, order: { id: 12 }, photo, free: [1, 'b'] }
  const drafts = draftsOf(inputs, values)
  expect(valuesOf(inputs, drafts)).toEqual({ parameters: values, problems: {} })
  expect(drafts['photo']?.file).toEqual({ name: 'image/png', bytes: 30 })
})

test('empty fields are left out, and values that do not fit are named', () => {
  const drafts = {
    text: { text: '' },
    count: { text: 'soon' },
    order: { text: '{"id": ' },
    free: { text: '[', isJson: true },
  }
  const { parameters, problems } = valuesOf(inputs, drafts)
  expect(parameters).toEqual({})
  expect(problems).toEqual({
    count: 'This is not a number: soon',
    order: expect.stringMatching(/^This is not JSON: /),
    free: expect.stringMatching(/^This is not JSON: /),
  })
})

test('a long text is shown by its size only, and used complete', () => {
  const values = { text: 'x'.repeat(longestTyped + 1), order: { items: Array.from({ length: 30_000 }, (_, at) => at) } }
  const drafts = draftsOf(inputs, values)
  expect([drafts['text']?.file?.name, drafts['order']?.file?.name]).toEqual(['long text', 'long text'])
  expect(valuesOf(inputs, drafts).parameters).toEqual(values)
})

test('sizes are those of the files', () => {
  expect(bytesOf('data:text/plain,abc')).toBe(3)
  expect([214, 34_000, 2_200_000].map(sizeText)).toEqual(['214 bytes', '33 KB', '2.1 MB'])
})

test('a required input without a value and without a default is missing', () => {
  const required = inputsOf({
    parameters: { a: { type: 'text', required: true }, b: { type: 'text', required: true }, c: { type: 'text' } },
    config: { parameters: { a: { required: true }, b: { required: true, default: 'x' }, c: {} } },
  })
  const missing = (parameters: Record<string, unknown>) => Object.keys(missingIn(required, parameters))
  expect(missing({})).toEqual(['a'])
  expect(missing({ a: null })).toEqual(['a'])
  expect(missing({ a: false })).toEqual([])
})

test('an input is renamed only if exactly one name has gone and one has come', () => {
  expect(renamedInput(['topic', 'tone'], ['tone', 'subject'])).toEqual(['topic', 'subject'])
  const others: [string[], string[]][] = [
    [['a'], ['a']],
    [['a'], []],
    [[], ['b']],
    [['a'], ['b', 'c']],
    [['a', 'b'], ['c']],
  ]
  for (const [before, after] of others) expect(renamedInput(before, after)).toBe(null)
})
