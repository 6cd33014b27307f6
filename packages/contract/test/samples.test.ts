import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sampleNames, sampleOf } from '../samples/index.ts'
import * as everything from '../src/index.ts'

const schemas = new Map(
  Object.entries(everything).flatMap(([name, value]) => (value instanceof z.ZodType ? [[name, value] as const] : [])),
)
const isRequest = (name: string) => /(Body|Query)$/.test(name) && name !== 'ErrorBody'
const isStructure = (schema: z.ZodType) => !(schema instanceof z.ZodString || schema instanceof z.ZodEnum)
const scalars = ['Id', 'Timestamp', 'Uuid']
const requests = [...schemas].filter(([name]) => isRequest(name) || sampleOf(name)?.invalid !== undefined)

function sample(name: string) {
  const found = sampleOf(name)
  if (!found) throw new Error(`${name} has no sample`)
  return found
}

/** Unwraps the step that drops nulls. */
function fieldsOf(schema: z.ZodType): string[] {
  const inner = schema instanceof z.ZodPipe ? schema.out : schema
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : []
}

test('every schema has a sample, and every sample has a schema', () => {
  const structures = [...schemas].filter(([name, schema]) => isStructure(schema) && !scalars.includes(name))
  const missing = structures.map(([name]) => name).filter((name) => !sampleOf(name))
  expect(missing).toEqual([])
  expect(sampleNames().filter((name) => !schemas.has(name))).toEqual([])
})

describe.each([...schemas].filter(([name]) => sampleOf(name)))('%s', (name, schema) => {
  test('accepts its valid sample', () => {
    const parsed = schema.parse(sample(name).valid)
    // The contract declares every key of a response, so the sample passes unchanged.
    if (!isRequest(name) && name !== 'MessageInput') expect(parsed).toEqual(sample(name).valid)
    else expect(parsed).toBeTypeOf('object')
  })
})

/** In these fields null resets the value. */
const nullIsAValue = new Set([
  ...['UpdateProjectBody.retentionDays', 'UpdateProjectBody.keepParameters'],
  ...['CreateExampleBody.expected', 'UpdateExampleBody.expected', 'ExampleChange.expected'],
])

describe.each(requests)('%s', (name, schema) => {
  test('refuses its invalid sample at the right place', () => {
    const { invalid, fault } = sample(name)
    expect(schema.safeParse(invalid).error?.issues[0]?.path).toEqual(fault)
  })

  test.skipIf(name === 'MessageInput')('drops unknown keys', () => {
    const valid = z.record(z.string(), z.unknown()).parse(sample(name).valid)
    expect(schema.parse({ ...valid, __internal: { source: 'api' } })).toEqual(schema.parse(valid))
  })

  test.skipIf(/^(\w+Query|MessageInput|Check)$/.test(name))('reads null as absent', () => {
    const valid = z.record(z.string(), z.unknown()).parse(sample(name).valid)
    for (const field of fieldsOf(schema)) {
      if (nullIsAValue.has(`${name}.${field}`)) continue
      const { [field]: _removed, ...without } = valid
      const absent = schema.safeParse(without)
      expect(schema.safeParse({ ...valid, [field]: null }).data, field).toEqual(absent.data)
    }
    expect(fieldsOf(schema)).not.toEqual([])
  })
})
