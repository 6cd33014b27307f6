import { describe, expect, it } from 'vitest'
import { AppError } from '../../shared/app-error.ts'
import { parameterValues, wireParameters } from './parameters.ts'
import { withUserMessage } from './template-engine.ts'

const declare = (keys: Record<string, unknown>) => ({ parameters: { p: keys } })

function refusal(config: Record<string, unknown>, given: Record<string, unknown>): unknown {
  try {
    parameterValues(config, given)
  } catch (error) {
    if (error instanceof AppError) return { reason: error.reason, ...error.details }
    throw error
  }
  return undefined
}

describe('declared types', () => {
  it.each([
    ['none', {}, '007', '007'],
    ['text', { type: 'text' }, 'true', 'true'],
    ['string with a list', { type: 'string' }, [1], [1]],
    ['text with null', { type: 'text' }, null, null],
    ['number', { type: 'number' }, '-1.5e2', -150],
    ['a number', { type: 'number' }, 4, 4],
    ['integer', { type: 'integer' }, '42', 42],
    ['boolean', { type: 'boolean' }, 'false', false],
    ['object', { type: 'object' }, '{"a":1}', { a: 1 }],
    ['array', { type: 'array' }, '[1]', [1]],
    ['null', { type: 'null' }, '', null],
    ['default', { type: 'number', default: '3' }, null, 3],
    ['required with a default', { required: true, default: 'd' }, undefined, 'd'],
  ])('%s', (_name, keys, given, expected) => {
    expect(parameterValues(declare(keys), { p: given })).toEqual({ p: expected })
  })

  it.each([
    ['number', '12px'],
    ['number', ''],
    ['number', '0x10'],
    ['number', '1e999'],
    ['number', true],
    ['integer', '1.5'],
    ['boolean', '1'],
    ['object', '[1]'],
    ['object', '{'],
    ['array', '{}'],
    ['null', 'nothing'],
    ['image', 'not a source!'],
    ['file', { name: 'x' }],
  ])('%s refuses %j', (type, value) => {
    expect(refusal(declare({ type }), { p: value })).toMatchObject({
      reason: 'invalid-parameters',
      missing: [],
      invalid: [{ name: 'p', expected: expect.any(String) }],
    })
  })

  it('reports all missing and invalid parameters together', () => {
    const parameters = { a: { required: true }, b: { required: true, type: 'image' }, c: { type: 'number' } }
    expect(refusal({ parameters }, { b: null, c: 'x' })).toEqual({
      reason: 'missing-parameters',
      missing: ['a', 'b'],
      invalid: [{ name: 'c', expected: 'a number' }],
    })
  })

  it('passes undeclared values through unchanged', () => {
    expect(parameterValues({}, { a: 'null', constructor: 1 })).toEqual({ a: 'null', constructor: 1 })
  })
})

describe('images and files', () => {
  it.each([
    ['image', 'https://h/a.pdf', { isImage: true, url: 'https://h/a.pdf', name: 'a.pdf' }],
    ['image', 'iVBORw0KGgo=', { isImage: true, mimeType: 'image/png' }],
    ['file', 'data:application/pdf;base64,AA==', { isImage: false, mimeType: 'application/pdf' }],
    ['file', 'https://h/a.csv', { isImage: false, mimeType: 'text/csv' }],
    ['file', { name: 'n', url: 'https://h/x', mimeType: 'image/gif', size: 3 }, { isImage: true, name: 'n', size: 3 }],
  ])('reads %s from %j', (type, given, expected) => {
    expect(parameterValues(declare({ type }), { p: given })['p']).toMatchObject({ __promptlType: 'file', ...expected })
  })

  it('accepts lists', () => {
    expect(parameterValues(declare({ type: 'image' }), { p: ['https://h/a', 'https://h/b'] })['p']).toHaveLength(2)
    expect(refusal(declare({ type: 'image' }), { p: ['https://h/a', 1] })).toMatchObject({ invalid: [{ name: 'p' }] })
  })
})

describe('parameters on the wire', () => {
  it('keep declared keys and use one of three types', () => {
    const parameters = { n: { type: 'number', required: true, min: 2 }, i: { type: 'image' }, bare: null }
    expect(wireParameters({ parameters }, ['free', 'n'])).toEqual({
      n: { type: 'text', required: true, min: 2 },
      i: { type: 'image' },
      bare: { type: 'text' },
      free: { type: 'text' },
    })
  })

  it('include `required` only if it is a boolean', () => {
    const parameters = {
      yes: { required: 'yes', description: 'd' },
      nothing: { required: null },
      no: { required: false },
    }
    expect(wireParameters({ parameters }, [])).toEqual({
      yes: { type: 'text', description: 'd' },
      nothing: { type: 'text' },
      no: { type: 'text', required: false },
    })
  })
})

describe('user message', () => {
  const source = { path: 'p', content: 'Hi', documents: {} }

  it('is appended if the prompt does not use it', () => {
    expect(withUserMessage(source, { parameters: [] }).content).toBe('Hi\n<user>{{ LATITUDE_USER_MESSAGE }}</user>')
    expect(withUserMessage(source, { parameters: ['LATITUDE_USER_MESSAGE'] })).toBe(source)
  })
})
