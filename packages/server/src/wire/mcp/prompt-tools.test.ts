import type { MessagePart } from '@stet/contract/vocabulary'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isCreatablePath, normalizeDocumentPath } from '../../features/documents/document-path.ts'
import type { LogEntry } from '../../features/runs/ports.ts'
import {
  inputSchema,
  outputSchema,
  pathOfToolName,
  promptArguments,
  promptMessages,
  titleOf,
  toolName,
} from './prompt-tools.ts'
import { progressMessages, promptUri, readUri, structuredResult, textResult } from './results.ts'

const config = {
  parameters: {
    ticket: { type: 'text', required: true, description: 'The ticket' },
    urgent: 'boolean',
    limit: { type: 'integer', default: 3 },
    picture: { type: 'image' },
    nothing: { type: 'null' },
  },
}
const parameters = { ticket: {}, urgent: {}, limit: {}, picture: {}, nothing: {}, free: {} }

it('describes the arguments of a tool with their declared types', () => {
  expect(inputSchema({ config, parameters })).toEqual({
    type: 'object',
    properties: {
      ticket: { type: 'string', description: 'The ticket' },
      urgent: { type: 'boolean' },
      limit: { type: 'integer', default: 3 },
      picture: { type: 'string' },
      nothing: { type: 'string' },
      free: { type: 'string' },
    },
    required: ['ticket'],
    additionalProperties: false,
  })
  expect(promptArguments({ config, parameters })[0]).toEqual({
    name: 'ticket',
    description: 'The ticket',
    required: true,
  })
})

it('shows only schemas of objects, because MCP has no others', () => {
  expect(outputSchema({ schema: { type: 'object', properties: {} } })).toEqual({ type: 'object', properties: {} })
  expect(outputSchema({ schema: { type: 'array' } })).toBeUndefined()
  expect(outputSchema({})).toBeUndefined()
})

it.each([
  ['a pattern that is not Unicode', { name: { type: 'string', pattern: '[\\w-.]' } }],
  ['a property that is no object', { name: true }],
  ['an unknown type', { name: { type: 'text' } }],
  ['a remote reference', { name: { $ref: 'https://example.com/schema' } }],
  ['one of these inside a list', { name: { anyOf: [{ type: 'object', required: 'name' }] } }],
])('leaves out a schema that makes older clients refuse all tools: %s', (_, properties) => {
  expect(outputSchema({ schema: { type: 'object', properties } })).toBeUndefined()
})

it('shows schemas whose values only look like such parts', () => {
  const properties = {
    type: { enum: ['text'] },
    pattern: { const: '[' },
    $ref: { type: 'string', default: 'https://x' },
  }
  const schema = { type: 'object', properties, required: ['type'] }
  expect(outputSchema({ schema })).toEqual(schema)
})

it('links images and files that are no base64, because a client would refuse the whole prompt', () => {
  const content: MessagePart[] = [
    { type: 'image', image: 'photos/cat.png' },
    { type: 'image', image: 'data:image/svg+xml,<svg/>' },
    { type: 'file', file: 'not base64!', mimeType: 'text/plain' },
  ]
  const messages = promptMessages([{ role: 'user', content }])
  expect(messages.map(({ content: { type } }) => type)).toEqual(['resource_link', 'resource_link', 'resource_link'])
})

it('takes the title from the front matter, else from the path', () => {
  expect(titleOf({ config: { name: 'Reply' }, path: 'support/reply' })).toBe('Reply')
  expect(titleOf({ config: { name: 7 }, path: 'support/reply' })).toBe('reply')
})

it('turns every part into a message of a role that MCP has', () => {
  const messages = promptMessages([
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    {
      role: 'user',
      content: [
        { type: 'image', image: 'data:image/jpeg;base64,AAAA' },
        { type: 'image', image: 'https://example.com/a.png' },
        { type: 'file', file: 'BBBB', mimeType: 'application/pdf' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Yes.' },
        { type: 'tool-call', toolCallId: 'x', toolName: 'y', args: {} },
      ],
    },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'x', toolName: 'y', result: 1 }] },
  ])
  expect(messages).toEqual([
    { role: 'user', content: { type: 'text', text: 'Be brief.' } },
    { role: 'user', content: { type: 'image', data: 'AAAA', mimeType: 'image/jpeg' } },
    {
      role: 'user',
      content: { type: 'resource_link', uri: 'https://example.com/a.png', name: 'image', mimeType: 'image/png' },
    },
    {
      role: 'user',
      content: {
        type: 'resource',
        resource: { uri: 'attachment:3', mimeType: 'application/pdf', blob: 'BBBB' },
      },
    },
    { role: 'assistant', content: { type: 'text', text: 'Yes.' } },
  ])
})

it('cuts a large result between two characters and names the resource that has all of it', () => {
  const { content, structuredContent } = structuredResult({ text: 'ä'.repeat(200_000) }, 'The resource stet://1/live/a')
  expect(structuredContent).toBeUndefined()
  expect(content[0]?.text).toMatch(/ä\n\[Cut at 256 KB\. The resource stet:\/\/1\/live\/a has all of it\.\]$/)
  expect(content[0]?.text).not.toContain('�')
  expect(textResult('short').content).toEqual([{ type: 'text', text: 'short' }])
})

it('reads the addresses that it writes, and no others', () => {
  const prompt = { projectId: 7, versionRef: 'live', path: 'größe/a.b' }
  expect(readUri(promptUri(prompt))).toEqual(prompt)
  expect(readUri('stet://conversations/x')).toEqual({ conversationUuid: 'x' })
  for (const uri of ['stet://a/live/x', 'stet://1/live', 'http://x/1/live/a', 'stet://1/live/%zz', 'stet://1/live/a?b'])
    expect(readUri(uri)).toBeUndefined()
})

it('says how far a run is, without any text of it', () => {
  const shown: string[] = []
  const add = progressMessages((message) => shown.push(message))
  const latitude = (json: string): LogEntry => ({
    id: 1,
    pieces: [`event: latitude-event\ndata: {"type":${json},"messages":[`, [0, 2], ']}\nid: 1\n\n'],
  })
  const provider = (event: object): LogEntry => ({
    id: 1,
    pieces: `event: provider-event\ndata: ${JSON.stringify(event)}\nid: 1\n\n`,
  })
  const entries = [
    latitude('"step-started"'),
    latitude('"provider-started","config":{"provider":"openai","model":"gpt-6-sol"}'),
    provider({ type: 'start-step', step: 1 }),
    provider({ type: 'text-delta', textDelta: '"type":"tool-call"' }),
    provider({ type: 'tool-call', toolCallId: 'x', toolName: 'search', args: { secret: 1 } }),
    provider({ type: 'start-step', step: 2 }),
  ]
  const into: (string | Buffer)[] = []
  for (const entry of entries) add(into, entry, ['{"role":"user"}', '{}'])
  expect(into).toEqual([])
  expect(shown).toEqual(['step 1', 'model call 1: openai gpt-6-sol', 'tool search', 'model call 2: openai gpt-6-sol'])
})

const segment = fc.oneof(
  fc.stringMatching(/^[a-z_]{1,12}$/),
  fc.stringMatching(/^[A-Za-z0-9_.-]{1,40}$/),
  fc.stringMatching(/^[äöüß日本語é_-]{1,20}$/),
  fc.stringMatching(/^[a-z]{1,4}_[0-9a-f]{8}$/),
)
const paths = fc
  .array(segment, { minLength: 1, maxLength: 16 })
  .map((parts) => normalizeDocumentPath(parts.join('/')))
  .filter(isCreatablePath)

it('names every path differently, in at most 64 characters that all model APIs take', () => {
  fc.assert(
    fc.property(fc.uniqueArray(paths, { minLength: 20, maxLength: 20 }), (all) => {
      const names = all.map(toolName)
      expect(new Set(names).size).toBe(all.length)
      for (const name of names) expect(name).toMatch(/^(?!stet_)[A-Za-z0-9_-]{1,64}$/)
    }),
    { numRuns: 50 },
  )
})

it('finds the path of a name without a hash', () => {
  fc.assert(
    fc.property(paths, (path) => {
      const found = pathOfToolName(toolName(path))
      expect(found === undefined || found === path).toBe(true)
    }),
    { numRuns: 200 },
  )
})

it.each([
  ['support/reply', 'support__reply'],
  ['a_b/c-d', 'a_b__c-d'],
])('keeps %s readable', (path, name) => {
  expect(toolName(path)).toBe(name)
  expect(pathOfToolName(name)).toBe(path)
})

it.each(['a__b', 'a_/b', 'a/_b', 'stet_x', 'a.b', 'größe', `${'long/'.repeat(20)}x`, 'a_0123abcd'])(
  'adds a hash to the name of %s',
  (path) => {
    expect(toolName(path)).toMatch(/_[0-9a-f]{8}$/)
    expect(pathOfToolName(toolName(path))).toBeUndefined()
  },
)
