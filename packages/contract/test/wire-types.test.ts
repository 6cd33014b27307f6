import { expect, test } from 'vitest'
import { z } from 'zod'
import { documentation } from '../scripts/documentation.ts'
import { WireTypes } from '../scripts/wire-types.ts'
import { absent, absentBut, ContentHash, Id, orRaw, Timestamp, Uuid } from '../src/common.ts'
import { documentedAs } from '../src/documented.ts'

const Color = z.enum(['red', 'blue']).meta({ description: 'A color.' })
const Person = z
  .object({ name: z.string() })
  .meta({ id: 'TestPerson', description: 'A person.', example: "{ name: 'Ada' }" })

const typeOf = (schema: z.ZodType) => new WireTypes({ Color, Person }).typeOf(schema)
const declared = (schema: z.ZodType) => new WireTypes({ Thing: schema }).declarations()

test.each<[string, z.ZodType, string]>([
  ['a string', z.string().min(1), 'string'],
  ['formats of strings', z.union([Uuid, Timestamp, ContentHash, z.url()]), 'string | string | string | string'],
  ['a number', z.number().min(0), 'number'],
  ['integers', z.union([z.int(), Id]), 'number | number'],
  ['a boolean', z.boolean(), 'boolean'],
  ['null', z.null(), 'null'],
  ['any value', z.unknown(), 'unknown'],
  ['literals', z.literal(['a', 1, true]), "'a' | 1 | true"],
  ['an enum without a name', z.enum(['a', 'b']), "'a' | 'b'"],
  ['a list', z.array(z.string()), 'string[]'],
  ['a list of several types', z.array(z.string().nullable()), '(string | null)[]'],
  ['a record', z.record(z.string(), z.number()), 'Record<string, number>'],
  ['null or a value', z.string().nullable(), 'string | null'],
  ['a union', z.union([z.string(), z.array(z.number())]), 'string | number[]'],
  ['a schema with a name', z.array(Person), 'Person[]'],
  [
    'a schema with a name and its own metadata',
    Person.meta({ description: 'The author.' }).nullable(),
    'Person | null',
  ],
  ['a schema that a raw response may replace', orRaw(z.array(Person)), 'Person[]'],
  ['a schema that drops nulls first', absent({ a: z.string() }), '{\na: string\n}'],
  ['a schema documented as another one', documentedAs(z.string().transform(Number), z.number()), 'number'],
])('%s', (_name, schema, expected) => expect(typeOf(schema)).toBe(expected))

test('keys with a default or without need not be sent', () => {
  const schema = z.object({
    required: z.string(),
    optional: z.string().exactOptional(),
    orUndefined: z.unknown().optional(),
    nullable: z.string().nullable(),
    both: z.string().nullable().exactOptional(),
    withDefault: z.boolean().default(false).meta({ description: 'Whether.' }),
    withEmptyDefault: z.record(z.string(), z.unknown()).default({}),
  })
  expect(typeOf(schema).split('\n')).toEqual([
    '{',
    'required: string',
    'optional?: string',
    'orUndefined?: unknown',
    'nullable: string | null',
    'both?: string | null',
    '/** Whether. Default: `false`. */',
    'withDefault?: boolean',
    'withEmptyDefault?: Record<string, unknown>',
    '}',
  ])
})

test('objects and unions become declarations with their documentation', () => {
  const comment = "/**\n * A person.\n * @example { name: 'Ada' }\n */\n"
  expect(declared(Person)).toBe(`${comment}export interface Thing {\nname: string\n}`)
  expect(declared(z.union([Color, z.null()]))).toBe("export type Thing = 'red' | 'blue' | null")
  expect(declared(absentBut(['a'], { a: z.null() }).meta({ description: 'Yes.' }))).toBe(
    '/** Yes. */\nexport interface Thing {\na: null\n}',
  )
})

test('an object that keeps unknown keys has an index signature', () => {
  expect(declared(z.looseObject({ a: z.string() }))).toContain('a: string\n[key: string]: unknown\n')
  expect(declared(z.strictObject({ a: z.string() }))).not.toContain('[key: string]')
})

test.each([
  ['VersionStatus', 'VERSION_STATUSES'],
  ['Role', 'ROLES'],
])('the enum %s becomes the tuple %s and its type', (name, tuple) => {
  expect(new WireTypes({ [name]: Color }).declarations()).toBe(
    `/** A color. */\nexport const ${tuple} = ['red', 'blue'] as const\nexport type ${name} = (typeof ${tuple})[number]`,
  )
})

test('scalars and values that are no schema get no declaration', () => {
  expect(new WireTypes({ Id, DocumentPath: z.string(), LIMITS: { a: 1 }, absent }).declarations()).toBe('')
})

test('the documentation of a field is the one closest to it, and not that of its type', () => {
  const schema = z.object({
    own: Person.meta({ description: 'The author.' }),
    ofType: Person,
    ofTypeOrNull: Person.nullable(),
    inner: z.string().meta({ description: 'Inner.' }).exactOptional(),
    outer: z.string().meta({ description: 'Inner.' }).nullable().meta({ description: 'Outer.' }),
    old: z.string().exactOptional().meta({ deprecated: true, description: 'Use `own`.' }),
  })
  expect(typeOf(schema).split('\n')).toEqual([
    '{',
    '/** The author. */',
    'own: Person',
    'ofType: Person',
    'ofTypeOrNull: Person | null',
    '/** Inner. */',
    'inner?: string',
    '/** Outer. */',
    'outer: string | null',
    '/** @deprecated Use `own`. */',
    'old?: string',
    '}',
  ])
})

test('a schema without a form is an error', () => {
  expect(() => typeOf(z.date())).toThrow('no form for the schema "date"')
  expect(() => typeOf(z.string().transform(Number))).toThrow('no form for the schema "pipe"')
})

test('long documentation is wrapped', () => {
  const lines = documentation({ description: 'word '.repeat(40).trim() }).split('\n')
  expect(lines).toHaveLength(5)
  for (const line of lines) expect(line.length).toBeLessThan(116)
})
