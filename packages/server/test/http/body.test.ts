import { describe, expect, it } from 'vitest'
import type { ApiCall } from './api-call.ts'
import { parseRaw, sendRaw } from './raw-http.ts'
import { refusalOf } from './refusal-of.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()
const create = (call: ApiCall) => api('POST', '/projects', call)

describe('request bodies', () => {
  it('may contain unknown keys, which are ignored, and null, which counts as absent', async () => {
    const body = { name: 'loose', defaultModel: null, __internal: { a: 1 }, more: [1] }
    expect((await create({ body })).status).toBe(201)
  })

  it.each([
    ['{"name":"\\ud800"}', { reason: 'invalid-body', path: 'name' }],
    ['{"name":"a","x":1e400}', { reason: 'invalid-body', path: 'x' }],
    [`{"name":"a","x":${'['.repeat(70)}${']'.repeat(70)}}`, { reason: 'invalid-body', path: `x${'.0'.repeat(63)}` }],
    ['[]', { reason: 'invalid-body', path: '' }],
    ['null', { reason: 'invalid-body', path: '' }],
  ])('get 400: %s', async (body, refusal) => {
    const answer = await create({ body, headers: { 'content-type': 'application/json' } })
    expect(refusalOf(answer)).toEqual({ status: 400, ...refusal })
  })

  it('get all their errors reported, or only the first of very many', async () => {
    const chat = (parts: number) =>
      api('POST', '/conversations/none/chat', {
        body: `{"messages":[{"role":"user","content":[${'1,'.repeat(parts - 1)}1]}]}`,
      })
    const paths = async (parts: number) => {
      const { status, body } = await chat(parts)
      expect(status).toBe(400)
      const { issues = [] } = body.details as { issues?: { path: unknown }[] }
      return issues.map((issue) => issue.path)
    }
    const first = ['messages', 0, 'content', 0]
    expect(await paths(3)).toEqual([first, [...first.slice(0, 3), 1], [...first.slice(0, 3), 2]])
    expect(await paths(40_000)).toEqual([first])
  })

  it('of 20 MB get a response while the client is still sending', async () => {
    const bytes = new Uint8Array(20_000_000).fill(120)
    for (const headers of [{}, { authorization: 'Bearer stet_wrong' }]) {
      const { status, body } = await create({
        body: bytes,
        headers: { 'content-type': 'application/json', ...headers },
      })
      const expected = 'authorization' in headers ? [401, 'UnauthorizedError'] : [413, 'PayloadTooLargeError']
      expect([status, body['name']]).toEqual(expected)
    }
  })

  it('that never end get a response and their connection is closed', async () => {
    const head = ['POST /api/v3/projects HTTP/1.1', 'Host: a', 'Content-Length: 99999999', '', 'x']
    const answer = parseRaw(await sendRaw(Number(new URL(server.url).port), [head.join('\r\n')]))
    expect(answer).toMatchObject({ status: 401 })
    expect(answer.headers.get('connection')).toBe('close')
  })

  it('round-trip byte for byte', async () => {
    const project = (await create({ body: { name: '\ufeffunicode' } })).body as unknown as {
      project: { id: number; name: string }
      version: { uuid: string }
    }
    expect(project.project.name).toBe('\ufeffunicode')
    const version = `/projects/${project.project.id}/versions/${project.version.uuid}`
    const documents = `${version}/documents`
    const prompts = {
      exact: 'e\u0301 \u00e9 😀 \u202eRTL \ufeff \t\r\n \u001b\u009b <b>"\\"</b>',
      marked: '\ufeff---\nmodel: m\n---\nmarked',
      marks: '\ufeff\ufeff',
      // The database returns this text in several pieces.
      long: `\ufeff${'é\ufeff'.repeat(50_000)}`,
    }
    for (const [path, prompt] of Object.entries(prompts)) {
      expect((await api('POST', documents, { body: { path, prompt } })).body['content']).toBe(prompt)
      expect((await api('GET', `${documents}/${path}`)).body['content']).toBe(prompt)
    }
    const list = (await api<{ path: string; content: string }[]>('GET', documents)).body
    expect(Object.fromEntries(list.map(({ path, content }) => [path, content]))).toEqual(prompts)
    // Publishing compares the content's hash with the compiled one.
    await api('POST', documents, { body: { path: 'refers', prompt: '<prompt path="marked" />' } })
    expect((await api('POST', `${version}/publish`)).status).toBe(200)
  })
})
