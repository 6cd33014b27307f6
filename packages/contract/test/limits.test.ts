import { expect, test } from 'vitest'
import type { z } from 'zod'
import * as contract from '../src/index.ts'

const { AnnotateBody, CreateEvaluationBody, CreateLogBody, ListConversationsQuery, RotateApiKeyBody } = contract
const { CreateApiKeyBody, CreateDocumentBody, CreateExampleBody, CreateProjectBody, CreateProviderKeyBody, LIMITS } =
  contract
const { UpdateProjectBody } = contract
const { PublishVersionBody, PushChangesBody, RevertVersionBody, RunDocumentBody } = contract

const uuid = '9b2f7c1e-4d3a-4e8b-a6f5-1c0d9e8b7a65'
const run = (more: object) => ({ path: 'a', ...more })
const emoji = (length: number) => '😀'.repeat(length)
const list = <T>(length: number, entry: T): T[] => Array.from({ length }, () => entry)
const promptOf = (bytes: number) => 'é'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2)
const change = (more: object) => ({ changes: [{ path: 'a', status: 'modified', ...more }] })
const tooLong = promptOf(LIMITS.promptBytes + 1)

const cases: [string, z.ZodType, unknown, unknown, (string | number)[]][] = [
  ['name length, in characters', CreateProjectBody, { name: emoji(256) }, { name: emoji(257) }, ['name']],
  ['title length', PublishVersionBody, { title: emoji(256) }, { title: emoji(257) }, ['title']],
  ['empty title', PublishVersionBody, { title: '' }, { title: 1 }, ['title']],
  [
    'description length',
    PublishVersionBody,
    { description: emoji(16_384) },
    { description: emoji(16_385) },
    ['description'],
  ],
  [
    'customIdentifier length',
    RunDocumentBody,
    run({ customIdentifier: emoji(256) }),
    run({ customIdentifier: emoji(257) }),
    ['customIdentifier'],
  ],
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
    'changes per push',
    PushChangesBody,
    { changes: list(1_000, { path: 'a', status: 'deleted' }) },
    { changes: list(1_001, { path: 'a', status: 'deleted' }) },
    ['changes'],
  ],
  ['paths per revert', RevertVersionBody, { paths: list(1_000, 'a') }, { paths: list(1_001, 'a') }, ['paths']],
  [
    'messages per run',
    RunDocumentBody,
    run({ messages: list(1_000, { role: 'user', content: '' }) }),
    run({ messages: list(1_001, { role: 'user', content: '' }) }),
    ['messages'],
  ],
  ['tool names', RunDocumentBody, run({ tools: list(128, 'a') }), run({ tools: list(129, 'a') }), ['tools']],
  ['tool name length', RunDocumentBody, run({ tools: [emoji(128)] }), run({ tools: [emoji(129)] }), ['tools', 0]],
  ['empty tool name', RunDocumentBody, run({ tools: [] }), run({ tools: [''] }), ['tools', 0]],
  [
    'control characters in tool names',
    RunDocumentBody,
    run({ tools: ['a b'] }),
    run({ tools: ['a\u0007b'] }),
    ['tools', 0],
  ],
  [
    'rate limit of a key',
    CreateApiKeyBody,
    { name: 'a', plan: 'custom', limit: 100_000 },
    { name: 'a', plan: 'custom', limit: 100_001 },
    ['limit'],
  ],
  [
    'project ids are 32 bit',
    CreateApiKeyBody,
    { name: 'a', projectId: 2 ** 31 - 1 },
    { name: 'a', projectId: 2 ** 31 },
    ['projectId'],
  ],
  ['scopes', CreateApiKeyBody, { name: 'a', scopes: ['read'] }, { name: 'a', scopes: ['root'] }, ['scopes', 0]],
  [
    'provider kinds',
    CreateProviderKeyBody,
    { name: 'a', provider: 'openai', token: 'x' },
    { name: 'a', provider: 'acme', token: 'x' },
    ['provider'],
  ],
  [
    'annotation metadata, in bytes as JSON',
    AnnotateBody,
    { score: 1, metadata: { a: 'x'.repeat(16_384 - 8) } },
    { score: 1, metadata: { a: 'x'.repeat(16_384 - 7) } },
    ['metadata'],
  ],
  [
    'annotation metadata with its context',
    AnnotateBody,
    { score: 1, metadata: {}, context: { a: 'x'.repeat(16_384 - 20) } },
    { score: 1, metadata: {}, context: { a: 'x'.repeat(16_384 - 19) } },
    ['metadata'],
  ],
  [
    'ratings',
    CreateEvaluationBody,
    { projectId: 1, name: 'a', metric: 'rating', configuration: { minRating: -1e9, maxRating: 1e9 } },
    { projectId: 1, name: 'a', metric: 'rating', configuration: { maxRating: 1e9 + 1 } },
    ['configuration', 'maxRating'],
  ],
  [
    'evaluation name length',
    CreateEvaluationBody,
    { projectId: 1, name: emoji(256), metric: 'binary' },
    { projectId: 1, name: emoji(257), metric: 'binary' },
    ['name'],
  ],
  [
    'example name length',
    CreateExampleBody,
    { documentUuid: uuid, name: emoji(256), parameters: {} },
    { documentUuid: uuid, name: emoji(257), parameters: {} },
    ['name'],
  ],
  [
    'messages of an example',
    CreateExampleBody,
    { documentUuid: uuid, name: 'a', parameters: {}, messages: list(1_000, { role: 'user', content: '' }) },
    { documentUuid: uuid, name: 'a', parameters: {}, messages: list(1_001, { role: 'user', content: '' }) },
    ['messages'],
  ],
  [
    'messages per log',
    CreateLogBody,
    run({ messages: list(1_000, { role: 'user', content: '' }) }),
    run({ messages: list(1_001, { role: 'user', content: '' }) }),
    ['messages'],
  ],
  [
    'duration of a log',
    CreateLogBody,
    run({ messages: [], duration: 2 ** 31 - 1 }),
    run({ messages: [], duration: 2 ** 31 }),
    ['duration'],
  ],
  ['days of retention', UpdateProjectBody, { retentionDays: 3650 }, { retentionDays: 3651 }, ['retentionDays']],
  ['page size', ListConversationsQuery, { limit: '100' }, { limit: '101' }, ['limit']],
  [
    'overlap of a rotation',
    RotateApiKeyBody,
    { overlapSeconds: 604_800 },
    { overlapSeconds: 604_801 },
    ['overlapSeconds'],
  ],
  [
    'http only',
    CreateProviderKeyBody,
    { name: 'a', provider: 'custom', token: 'x', url: 'http://localhost:1/v1' },
    { name: 'a', provider: 'custom', token: 'x', url: 'ftp://localhost' },
    ['url'],
  ],
]

test.each(cases)('%s', (_name, schema, fits, exceeds, path) => {
  expect(schema.safeParse(fits).error).toBeUndefined()
  expect(schema.safeParse(exceeds).error?.issues[0]?.path).toEqual(path)
})

test('absent fields get their defaults', () => {
  expect(RunDocumentBody.parse({ path: 'a', stream: null })).toEqual({
    path: 'a',
    parameters: {},
    stream: false,
    background: false,
  })
  expect(CreateDocumentBody.parse({ path: 'a' })).toEqual({ path: 'a', prompt: '' })
  expect(PublishVersionBody.parse({})).toEqual({ force: false })
})
