import { createHash } from 'node:crypto'
import { MovedDocument, VersionDiff, VersionTree } from '@stet/contract'
import { describe, expect, it } from 'vitest'
import { createTestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { api } = await sharedServer()

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const move = (version: string, from: string, to: string, more: object = {}, headers: Record<string, string> = {}) =>
  api('POST', `${version}/documents/move`, { body: { from, to, ...more }, headers })
const push = (version: string, changes: object[], more: object = {}) =>
  api('POST', `${version}/push`, { body: { changes, ...more } })
const put = (version: string, path: string, prompt: string, more: object = {}) =>
  api('POST', `${version}/documents/create-or-update`, { body: { path, prompt, ...more } })
const publish = (version: string, more: object = {}) => api('POST', `${version}/publish`, { body: more })
const get = async (version: string, path: string) => (await api('GET', `${version}/documents/${path}`)).body
const uuidOf = async (version: string, path: string) => (await get(version, path))['documentUuid']
const changesOf = async (version: string) => VersionDiff.parse((await api('GET', `${version}/diff`)).body).changes
const itemsOf = async (version: string) => VersionTree.parse((await api('GET', `${version}/tree`)).body).items

describe('POST …/documents/move', () => {
  it('moves a prompt with its uuid, and lists the prompts that refer to the old path', async () => {
    const project = await createTestProject(api, {
      'a/b': 'Hello',
      user: '<prompt path="a/b" />',
      other: '<prompt path="user" />',
    })
    const documentUuid = await uuidOf(project.live, 'a/b')
    const draft = await project.newDraft()
    const moved = await move(draft, '/a/b', 'c/d', { baseHash: hash('Hello') })
    expect(moved.status).toBe(200)
    expect(MovedDocument.parse(moved.body)).toMatchObject({
      ...{ path: 'c/d', documentUuid, content: 'Hello', movedFrom: 'a/b', brokenReferences: ['user'] },
    })
    expect(moved.headers.get('etag')).toBe(`"${hash('Hello')}"`)
    expect(await get(draft, 'c/d')).toMatchObject({ documentUuid, movedFrom: 'a/b' })
    expect((await api('GET', `${draft}/documents/a/b`)).status).toBe(404)
    expect(await publish(draft)).toMatchObject({ status: 422, body: { reason: 'draft-does-not-compile' } })
    await put(draft, 'user', '<prompt path="c/d" />')
    expect((await publish(draft)).status).toBe(200)
    expect(await uuidOf(project.live, 'c/d')).toBe(documentUuid)
    expect(await get(project.live, 'c/d')).not.toHaveProperty('movedFrom')
  })

  it('shows one entry per path in diff and tree', async () => {
    const project = await createTestProject(api, { a: 'a1', b: 'b1' })
    const documentUuid = await uuidOf(project.live, 'a')
    const draft = await project.newDraft()
    await move(draft, 'a', 'c')
    const [from, to] = [
      { path: 'a', documentUuid, movedTo: 'c' },
      { path: 'c', documentUuid },
    ]
    const sides = { before: { contentHash: hash('a1') }, after: null, conflict: false }
    expect(await changesOf(draft)).toMatchObject([
      { ...from, status: 'deleted', ...sides },
      { ...to, status: 'added', before: null, after: { contentHash: hash('a1') }, movedFrom: { path: 'a' } },
    ])
    expect((await itemsOf(draft)).filter(({ change }) => change)).toMatchObject([
      { ...from, change: 'deleted', contentHash: hash('a1') },
      { ...to, change: 'added', movedFrom: { path: 'a' } },
    ])
    expect(JSON.stringify([await changesOf(draft), await itemsOf(draft)])).not.toContain('"movedFrom":{"path":"a","con')
    await put(draft, 'c', 'a2')
    const movedFrom = { path: 'a', contentHash: hash('a1') }
    expect((await changesOf(draft)).at(-1)).toMatchObject({ path: 'c', movedFrom })
    expect((await itemsOf(draft)).at(-1)).toMatchObject({ path: 'c', movedFrom })
    await publish(draft)
    expect((await changesOf(project.live)).at(-1)).toMatchObject({ path: 'c', status: 'added', movedFrom })
    expect((await itemsOf(project.live)).map(({ path, change, movedFrom: from }) => [path, change, from])).toEqual([
      ['b', null, undefined],
      ['c', null, undefined],
    ])
    const list = (await api('GET', project.live.replace('/live', ''))).body as unknown as { changeCount: number }[]
    expect(list[0]?.changeCount).toBe(2)
  })

  it('happens once for an Idempotency-Key', async () => {
    const project = await createTestProject(api, { a: 'a1', b: '<prompt path="a" />' })
    const draft = await project.newDraft()
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const first = await move(draft, 'a', 'c', {}, headers)
    const again = await move(draft, 'a', 'c', {}, headers)
    expect(first.status).toBe(200)
    expect(again.text).toBe(first.text)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    // Without a key, a repeated move changes nothing.
    const { body } = await move(draft, 'a', 'c')
    expect(body).toMatchObject({ updatedAt: first.body['updatedAt'], brokenReferences: ['b'] })
  })

  it('refuses what it cannot move', async () => {
    const project = await createTestProject(api, { a: 'a1', b: 'b1' })
    const draft = await project.newDraft()
    const refusals: [call: ReturnType<typeof move>, status: number, reason: string][] = [
      [move(draft, 'a', 'b'), 409, 'path-taken'],
      [move(draft, 'x', 'y'), 404, 'unknown-document'],
      [move(draft, 'a', '/a'), 400, 'invalid-body'],
      [move(draft, 'a', 'a b'), 400, 'invalid-path'],
      [move(draft, 'a', `c${'c'.repeat(600)}`), 400, 'path-too-long'],
      [move(draft, 'a', 'c', { baseHash: hash('old') }), 409, 'base-changed'],
      [move(project.live, 'a', 'c'), 400, 'merged-version'],
      [push(draft, [{ path: 'c', status: 'moved' }]), 400, 'invalid-body'],
      [
        push(
          draft,
          ['c', 'd'].map((path) => ({ path, from: 'a', status: 'moved' })),
        ),
        400,
        'repeated-path',
      ],
    ]
    for (const [call, status, reason] of refusals) expect(await call).toMatchObject({ status, body: { reason } })
    expect(await changesOf(draft)).toEqual([])
  })
})
