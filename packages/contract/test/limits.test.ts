import { expect, test } from 'vitest'
import type { z } from 'zod'
import * as contract from '../src/index.ts'

const { AnnotateBody, CreateEvaluationBody, CreateLogBody, ListConversationsQuery, RotateApiKeyBody } = contract
const {
  CreateApiKeyBody,
  CreateDocumentBody,
  CreateExampleBody,
  ChangeExamplesBody,
  CreateProjectBody,
  CreateProviderKeyBody,
  LIMITS,
} = contract
const { CreateVersionBody, UpdateProjectBody } = contract
const { PublishVersionBody, PushChangesBody, RevertVersionBody, RunDocumentBody } = contract

const uuid = '9b2f7c1e-4d3a-4e8b-a6f5-1c0d9e8b7a65'
const run = (more: object) => ({ path: 'a', ...more })
const example = (more: object) => ({ documentUuid: uuid, name: 'a', parameters: {}, ...more })
const evaluation = (more: object) => ({ projectId: 1, name: 'a', metric: 'rating', ...more })
const provider = (more: object) => ({ name: 'a', provider: 'openai', token: 'x', ...more })
const custom = (more: object) => ({ name: 'a', plan: 'custom', ...more })
const promptOf = (bytes: number) => 'é'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2)
const change = (more: object) => ({ changes: [{ path: 'a', status: 'modified', ...more }] })
const tooLong = promptOf(LIMITS.promptBytes + 1)
const metadata = (length: number) => ({ score: 1, metadata: { a: 'x'.repeat(length) } })
const context = (length: number) => ({ score: 1, metadata: {}, context: { a: 'x'.repeat(length) } })

type Case = [name: string, schema: z.ZodType, fits: unknown, exceeds: unknown, path: (string | number)[]]
type Body = (more: object) => object
const only: Body = (more) => more

/** Makes a number, a text of so many characters, or a list of so many entries. */
const sized = (one: unknown, size: number) => {
  if (typeof one === 'number') return size
  return typeof one === 'string' ? one.repeat(size) : Array(size).fill([one].flat()[0])
}
const message = { role: 'user', content: '' }
const largest: Case[] = (
  [
    // A character of several UTF-16 units counts once.
    [CreateProjectBody, only, 'name', '😀', 256],
    [PublishVersionBody, only, 'title', '😀', 256],
    [PublishVersionBody, only, 'description', '😀', 16_384],
    [RunDocumentBody, run, 'customIdentifier', '😀', 256],
    [CreateEvaluationBody, evaluation, 'name', '😀', 256],
    [CreateExampleBody, example, 'name', '😀', 256],
    [PushChangesBody, only, 'changes', { path: 'a', status: 'deleted' }, 1_000],
    [RevertVersionBody, only, 'paths', ['a'], 1_000],
    [RunDocumentBody, run, 'messages', message, 1_000],
    [CreateExampleBody, example, 'messages', message, 1_000],
    [CreateExampleBody, example, 'tags', ['a'], 20],
    [ChangeExamplesBody, (more) => ({ documentUuid: uuid, ...more }), 'changes', { name: 'a' }, 200],
    [CreateLogBody, run, 'messages', message, 1_000],
    [RunDocumentBody, run, 'tools', ['a'], 128],
    [CreateApiKeyBody, custom, 'limit', 1, 100_000],
    [CreateApiKeyBody, (more) => ({ name: 'a', ...more }), 'projectId', 1, 2 ** 31 - 1],
    [CreateLogBody, (more) => run({ messages: [], ...more }), 'duration', 1, 2 ** 31 - 1],
    [UpdateProjectBody, only, 'retentionDays', 1, 3650],
    [RotateApiKeyBody, only, 'overlapSeconds', 1, 604_800],
  ] as [z.ZodType, Body, string, unknown, number][]
).map(([schema, body, key, value, most]) => {
  const [fits, exceeds] = [most, most + 1].map((size) => body({ [key]: sized(value, size) }))
  return [`${key}: ${most}`, schema, fits, exceeds, [key]]
})

const cases: Case[] = [
  ...largest,
  ['empty title', PublishVersionBody, { title: '' }, { title: 1 }, ['title']],
  [
    'prompt, in bytes',
    CreateDocumentBody,
    run({ prompt: promptOf(LIMITS.promptBytes) }),
    run({ prompt: tooLong }),
    ['prompt'],
  ],
  [
    'pushed prompt, in bytes',
    PushChangesBody,
    change({ content: promptOf(LIMITS.promptBytes) }),
    change({ content: tooLong }),
    ['changes', 0, 'content'],
  ],
  ['pushed prompt, required', PushChangesBody, change({ content: '' }), change({}), ['changes', 0, 'content']],
  [
    'content of a deletion is ignored',
    PushChangesBody,
    change({ status: 'deleted', content: tooLong }),
    change({ status: 'gone' }),
    ['changes', 0, 'status'],
  ],
  [
    'tool name length',
    RunDocumentBody,
    run({ tools: ['😀'.repeat(128)] }),
    run({ tools: ['😀'.repeat(129)] }),
    ['tools', 0],
  ],
  ['empty tool name', RunDocumentBody, run({ tools: [] }), run({ tools: [''] }), ['tools', 0]],
  ['control characters', RunDocumentBody, run({ tools: ['a b'] }), run({ tools: ['a\u0007b'] }), ['tools', 0]],
  ['scopes', CreateApiKeyBody, { name: 'a', scopes: ['read'] }, { name: 'a', scopes: ['root'] }, ['scopes', 0]],
  ['plan custom without a limit', CreateApiKeyBody, { name: 'a' }, { name: 'a', plan: 'custom' }, ['limit']],
  ['a limit of another plan', CreateApiKeyBody, custom({ limit: 1 }), custom({ plan: 'team', limit: 1 }), ['limit']],
  ['a limit without a plan', CreateApiKeyBody, custom({ limit: 1 }), { name: 'a', limit: 1 }, ['limit']],
  ['limit 0', CreateApiKeyBody, custom({ limit: 1 }), custom({ limit: 0 }), ['limit']],
  ['a whole limit', CreateApiKeyBody, custom({ limit: 1 }), custom({ limit: 1.5 }), ['limit']],
  ['pricing plans', CreateApiKeyBody, { name: 'a', plan: 'hobby' }, { name: 'a', plan: 'gold' }, ['plan']],
  ['provider kinds', CreateProviderKeyBody, provider({}), provider({ provider: 'acme' }), ['provider']],
  ['metadata, in bytes as JSON', AnnotateBody, metadata(16_384 - 8), metadata(16_384 - 7), ['metadata']],
  [
    'the reason of a score',
    AnnotateBody,
    { score: 1, metadata: { reason: 'a' } },
    { score: 1, metadata: { reason: 5 } },
    ['metadata', 'reason'],
  ],
  ['metadata with its context', AnnotateBody, context(16_384 - 20), context(16_384 - 19), ['metadata']],
  [
    'ratings',
    CreateEvaluationBody,
    evaluation({ configuration: { minRating: -1e9, maxRating: 1e9 } }),
    evaluation({ configuration: { maxRating: 1e9 + 1 } }),
    ['configuration', 'maxRating'],
  ],
  ['page size', ListConversationsQuery, { limit: '100' }, { limit: '101' }, ['limit']],
  [
    'http only',
    CreateProviderKeyBody,
    provider({ url: 'http://localhost:1/v1' }),
    provider({ url: 'ftp://localhost' }),
    ['url'],
  ],
]

test.each(cases)('%s', (_name, schema, fits, exceeds, path) => {
  expect(schema.safeParse(fits).error).toBeUndefined()
  expect(schema.safeParse(exceeds).error?.issues[0]?.path).toEqual(path)
})

test.each(['\n', '\u001b', '\u007f', '\u009b'])('names have no control character %j', (character) => {
  for (const [schema, body, key] of [
    [CreateProjectBody, only, 'name'],
    [UpdateProjectBody, only, 'name'],
    [CreateVersionBody, only, 'name'],
    [PublishVersionBody, only, 'title'],
    [CreateApiKeyBody, only, 'name'],
    [CreateProviderKeyBody, provider, 'name'],
  ] as [z.ZodType, Body, string][])
    expect(schema.safeParse(body({ [key]: `a${character}b` })).error?.issues[0]?.path).toEqual([key])
})

test('absent fields get their defaults', () => {
  expect(RunDocumentBody.parse({ path: 'a', stream: null })).toEqual({
    path: 'a',
    parameters: {},
    stream: false,
    background: false,
  })
  expect(CreateDocumentBody.parse({ path: 'a' })).toEqual({ path: 'a', prompt: '' })
  expect(PublishVersionBody.parse({})).toEqual({ force: false, merge: false })
})
