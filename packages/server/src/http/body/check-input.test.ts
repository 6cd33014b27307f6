import * as contract from '@stet/contract'
import { ChatBody, CreateProjectBody, PushChangesBody, RunDocumentBody } from '@stet/contract'
import { sampleNames, sampleOf } from '@stet/contract/samples'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { checkedInput, invalidRequest, type RequestIssue } from './check-input.ts'

type Checked = { '~standard': { validate(input: unknown): { issues?: readonly RequestIssue[] } } }

function issuesOf(schema: z.ZodType, input: unknown): readonly RequestIssue[] {
  return (checkedInput(schema) as Checked)['~standard'].validate(input).issues ?? []
}

const chat = (...messages: unknown[]) => ({ messages })

it.each([
  [ChatBody, {}, 'messages: a list is required'],
  [ChatBody, [], 'body: an object is required'],
  [ChatBody, chat(), 'messages: must have at least 1 item'],
  [ChatBody, chat({ role: 'user' }), 'messages[0].content: a string or a list of parts is required'],
  [
    ChatBody,
    chat({ role: 'me', content: '' }),
    'messages[0].role: must be one of system, developer, user, assistant, tool',
  ],
  [ChatBody, chat({ role: 'user', content: [{ type: 'text' }] }), 'messages[0].content[0].text: a string is required'],
  [RunDocumentBody, { path: 5 }, 'path: a string is required'],
  [CreateProjectBody, { name: '' }, 'name: must have at least 1 character'],
  [RunDocumentBody, { path: 'a', stream: 'yes' }, 'stream: true or false is required'],
  [
    PushChangesBody,
    { changes: [{ path: 'a', status: 'new' }] },
    'changes[0].status: must be one of added, modified, deleted, moved, unchanged',
  ],
  [z.strictObject({}), { a: 1 }, 'body: has unknown keys: a'],
  [z.object({ n: z.int().max(3) }), { n: 4 }, 'n: must be at most 3'],
  [z.object({ v: z.union([z.string(), z.array(z.int())]) }), { v: {} }, 'v: a string or a list is required'],
  [z.object({ v: z.union([z.string(), z.array(z.int())]) }), { v: ['x'] }, 'v[0]: a number is required'],
] as const)('%#: says what is required', (schema, input, words) => {
  expect(invalidRequest('invalid-body', issuesOf(schema, input)).message).toBe(`Invalid request: ${words}`)
})

const schemas = new Map<string, unknown>(Object.entries(contract))
const hostile = [undefined, null, true, -1, 1.5, 'x', 'x'.repeat(600), [], [1], {}, { a: {} }]

it('shows no words of the validator, whichever field of a body is wrong', () => {
  const bad = new Set<string>()
  for (const name of sampleNames()) {
    const [schema, valid] = [schemas.get(name), sampleOf(name)?.valid]
    if (!/(Body|Query)$/.test(name) || !(schema instanceof z.ZodType) || typeof valid !== 'object' || valid === null)
      continue
    for (const value of hostile) {
      const inputs = [value, ...Object.keys(valid).map((key) => ({ ...valid, [key]: value }))]
      for (const input of inputs) for (const { message } of issuesOf(schema, input)) bad.add(message)
    }
  }
  expect(bad.size).toBeGreaterThan(20)
  expect(
    [...bad].filter((message) => /Invalid|Too (small|big)|expected|received|[Uu]nrecognized|NaN/.test(message)),
  ).toEqual([])
})
