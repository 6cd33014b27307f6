import { beforeAll, describe, expect, it } from 'vitest'
import { httpCall } from '../http/api-call.ts'
import { createTestProject, issueKey, type Opened, type TestProject } from '../http/scenario.ts'
import { sharedServer } from '../http/shared-server.ts'
import { callTool, type McpCaller, mcpCaller, toolNames } from './mcp-call.ts'

const greet = '---\nprovider: demo\ndescription: Greets\n---\n<user>Hello {{ name }}</user>\n'

let opened: Opened
let project: TestProject
let url: string
let live: string

beforeAll(async () => {
  opened = await sharedServer()
  url = opened.server.url
  project = await createTestProject(opened.api, { greet, 'support/steps': '<step>Hi</step><step>Ho</step>\n' })
  live = String((await opened.api('GET', project.live)).body['uuid'])
})

async function keyed(scopes: string[], options: Record<string, unknown> = {}): Promise<McpCaller> {
  const key = await issueKey(opened.api, { scopes, projectId: project.id, plan: 'custom', limit: 10_000, ...options })
  return mcpCaller(url, key)
}

const byScope = {
  read: [
    ...['stet_diff', 'stet_get_conversation', 'stet_get_prompt', 'stet_list_conversations', 'stet_list_prompts'],
    'stet_list_versions',
  ],
  run: ['stet_get_conversation', 'stet_run_prompt', 'stet_stop_run', 'greet'],
  write: ['stet_create_draft', 'stet_delete_prompt', 'stet_write_prompt'],
  publish: [],
  admin: [
    ...['stet_check_prompt', 'stet_create_draft', 'stet_delete_prompt', 'stet_diff', 'stet_get_conversation'],
    ...['stet_get_prompt', 'stet_list_conversations', 'stet_list_prompts', 'stet_list_versions', 'stet_run_prompt'],
    ...['stet_stop_run', 'stet_write_prompt', 'greet'],
  ],
}

describe('scopes', () => {
  it.each(Object.entries(byScope))(
    'a key with %s sees its tools only, and cannot call others',
    async (scope, names) => {
      const call = await keyed([scope])
      expect(await toolNames(call)).toEqual(names)
      const absent = [...byScope.admin, 'stet_publish_draft'].filter((name) => !names.includes(name as never))
      for (const name of absent) {
        const { error } = await callTool(call, name)
        expect(error).toEqual({ code: -32602, message: `Unknown tool: ${name}` })
      }
    },
  )

  it('needs read and write to check a text', async () => {
    const call = await keyed(['read', 'write'])
    const { data } = await callTool(call, 'stet_check_prompt', { path: 'new', content: 'Hi {{ name' })
    expect(data['errors']).toMatchObject([{ line: 1, frame: expect.any(String) }])
  })

  it('has prompts and resources only with the scope read', async () => {
    const { error } = await (await keyed(['run']))('prompts/list')
    expect(error?.code).toBe(-32601)
  })
})

describe('transport', () => {
  const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const post = (headers: Record<string, string>, body: unknown = rpc) =>
    httpCall('POST', `${url}/mcp`, {
      body,
      headers: { accept: 'application/json, text/event-stream', authorization: `Bearer ${opened.key}`, ...headers },
    })

  it('refuses a foreign origin before it reads the key', async () => {
    const { status } = await post({ origin: 'https://evil.example', authorization: 'Bearer nothing' })
    expect(status).toBe(403)
  })

  it('asks for a key, and has no OAuth', async () => {
    const { status, headers } = await httpCall('POST', `${url}/mcp`, { body: rpc, headers: { cookie: 'stet=1' } })
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    const probed = await httpCall('GET', `${url}/.well-known/oauth-protected-resource`)
    expect([probed.status, probed.body['reason']]).toEqual([404, 'unknown-route'])
  })

  it.each(['GET', 'DELETE'])('has no %s', async (method) => {
    const { status, headers } = await httpCall(method, `${url}/mcp`)
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  })

  it.each([
    ['a batch, which would count as one request', [rpc, rpc], -32600],
    ['no message', 'null', -32600],
    ['no JSON', '{"jsonrpc"', -32700],
  ])('refuses %s', async (_, body, code) => {
    const { status, body: answer } = await post({ 'content-type': 'application/json' }, body)
    expect([status, answer['error']]).toMatchObject([400, { code }])
  })

  it('counts each request against the rate limit of the key', async () => {
    const key = await issueKey(opened.api, { scopes: ['read'], projectId: project.id, plan: 'custom', limit: 1 })
    const answers = await Promise.all(Array.from({ length: 5 }, () => mcpCaller(url, key)('ping')))
    expect(answers.map(({ status }) => status)).toContain(429)
  })

  it.each(['legacy', 'modern'] as const)(
    'answers %s clients the same, with private lists in the new era',
    async (era) => {
      const call = await keyed(['read', 'run'])
      const tools = await call('tools/list', {}, { era })
      expect(tools.result?.['tools']).toHaveLength(9)
      if (era === 'modern') expect(tools.result).toMatchObject({ ttlMs: 5000, cacheScope: 'private' })
      expect((await call('nothing/here', {}, { era })).error?.code).toBe(-32601)
      expect((await call('tools/call', { name: 'nothing' }, { era })).error?.code).toBe(-32602)
    },
  )

  it('compares the headers of the new era with the body', async () => {
    const headers = { 'mcp-method': 'tools/call' }
    const { status, error } = await (await keyed(['read']))('tools/list', {}, { era: 'modern', headers })
    expect([status, error?.code]).toEqual([400, -32020])
  })
})

describe('projects', () => {
  it('are named by each call, unless the key or the connection has one', async () => {
    const call = mcpCaller(url, opened.key)
    const missing = await callTool(call, 'stet_list_prompts')
    expect(missing.error).toMatchObject({ code: -32602, message: expect.stringContaining('project') })
    const { data } = await callTool(call, 'stet_list_prompts', { project: String(project.id) })
    expect(data['prompts']).toMatchObject([{ path: 'greet', description: 'Greets' }, { path: 'support/steps' }])
    const fixed = { headers: { 'x-stet-project': String(project.id) } }
    expect((await callTool(call, 'stet_list_prompts', {}, fixed)).data).toEqual(data)
    const unknown = await call('tools/list', {}, { headers: { 'x-stet-project': 'nothing' } })
    expect(unknown.status).toBe(404)
  })

  it('precede the paths of prompts, and a restricted key sees no other', async () => {
    const other = await createTestProject(opened.api, { greet })
    const all = mcpCaller(url, opened.key)
    const name = `${other.id}/greet`
    const { result } = await all('prompts/get', { name, arguments: { name: 'Ada' } })
    expect(result?.['messages']).toEqual([{ role: 'user', content: { type: 'text', text: 'Hello Ada' } }])
    const call = await keyed(['read'])
    const uri = `stet://${other.id}/live/greet`
    expect((await call('resources/read', { uri })).error).toMatchObject({ code: -32602, data: { uri } })
    expect((await all('resources/read', { uri })).result).toMatchObject({ contents: [{ uri, text: greet }] })
  })
})

describe('prompts and resources', () => {
  it('lists live prompts with their arguments and version', async () => {
    const { result } = await (await keyed(['read']))('prompts/list')
    expect(result?.['prompts']).toEqual([
      {
        name: 'greet',
        title: 'greet',
        description: 'Greets',
        arguments: [{ name: 'name', required: false }],
        _meta: { 'stet/version': 1 },
      },
      { name: 'support/steps', title: 'steps', arguments: [], _meta: { 'stet/version': 1 } },
    ])
  })

  it('refuses a prompt with steps, an unknown one, and a cursor of another list', async () => {
    const call = await keyed(['read'])
    const messages = [
      await call('prompts/get', { name: 'support/steps' }),
      await call('prompts/get', { name: 'nothing' }),
      await call('prompts/list', { cursor: 'nothing' }),
    ].map(({ error }) => `${error?.code} ${error?.message}`)
    expect(messages).toEqual([
      '-32602 The prompt has steps; call its tool instead',
      '-32602 Unknown prompt: nothing',
      '-32602 The cursor is not one of this list',
    ])
  })

  it('reads a prompt of a version by number', async () => {
    const uri = `stet://${project.id}/1/greet`
    const { result } = await (await keyed(['read']))('resources/read', { uri })
    expect(result?.['contents']).toEqual([{ uri, mimeType: 'text/markdown', text: greet }])
  })
})

describe('writes', () => {
  it('change a draft, and need the hash of what they replace', async () => {
    const call = await keyed(['read', 'write'])
    const draft = String((await callTool(call, 'stet_create_draft', { name: 'tone' })).data['draft'])
    const { data } = await callTool(call, 'stet_get_prompt', { path: 'greet', version: draft })
    const write = { draft, path: 'greet', content: greet.replace('Hello', 'Good day') }
    const stale = await callTool(call, 'stet_write_prompt', { ...write, baseHash: 'a'.repeat(64) })
    expect(stale.isError).toBe(true)
    expect(stale.texts[0]).toMatch(/^ConflictError: /)
    expect(stale.texts[1]).toContain('a'.repeat(64))
    expect(stale.texts[1]).toContain(String(data['contentHash']))
    const written = await callTool(call, 'stet_write_prompt', { ...write, baseHash: data['contentHash'] })
    expect(written.data).toMatchObject({ contentHash: expect.not.stringContaining(String(data['contentHash'])) })
    const diff = await callTool(call, 'stet_diff', { head: draft })
    expect(diff.data['unified']).toContain('-<user>Hello {{ name }}</user>\n+<user>Good day {{ name }}</user>')
    const gone = { draft, path: 'support/steps', baseHash: 'b'.repeat(64) }
    expect((await callTool(call, 'stet_delete_prompt', gone)).isError).toBe(true)
    const { data: steps } = await callTool(call, 'stet_get_prompt', { path: 'support/steps' })
    const deleted = await callTool(call, 'stet_delete_prompt', { ...gone, baseHash: steps['contentHash'] })
    expect(deleted.data).toEqual({ path: 'support/steps' })
  })

  it.each(['stet_write_prompt', 'stet_delete_prompt'])('%s leaves everything but drafts alone', async (tool) => {
    const call = await keyed(['read', 'write', 'publish', 'admin'])
    const other = await createTestProject(opened.api, { greet })
    const tree = async () => JSON.stringify((await opened.api('GET', `${project.live}/tree`)).body['items'])
    const before = await tree()
    const { data } = await callTool(call, 'stet_get_prompt', { path: 'greet' })
    const args = { path: 'greet', baseHash: data['contentHash'], ...(tool === 'stet_write_prompt' && { content: 'x' }) }
    const { baseHash: _, ...withoutHash } = { ...args, draft: project.draftUuid }
    const outcomes = [
      await callTool(call, tool, { ...args, draft: 'live' }),
      await callTool(call, tool, { ...args, draft: live }),
      await callTool(call, tool, { ...args, draft: other.draftUuid }),
      await callTool(call, tool, withoutHash),
      await callTool(call, tool, { ...args, draft: live, force: true }),
    ].map(({ error, texts }) => error?.code ?? texts[0]?.split(':')[0])
    expect(outcomes).toEqual([-32602, 'BadRequestError', 'NotFoundError', -32602, -32602])
    expect(await tree()).toBe(before)
  })
})
