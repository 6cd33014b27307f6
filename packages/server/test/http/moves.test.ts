import { createHash } from 'node:crypto'
import { CreatedVersion, MovedDocument, PushResult, VersionDiff, VersionTree } from '@stet/contract'
import { describe, expect, it } from 'vitest'
import { createTestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()

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
    expect((await api('GET', draft)).body['changeCount']).toBe(1)
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
    expect((await publish(draft)).body['changeCount']).toBe(1)
    expect((await changesOf(project.live)).at(-1)).toMatchObject({ path: 'c', status: 'added', movedFrom })
    expect((await itemsOf(project.live)).map(({ path, change, movedFrom: from }) => [path, change, from])).toEqual([
      ['b', null, undefined],
      ['c', null, undefined],
    ])
    const list = (await api<{ changeCount: number }[]>('GET', project.live.replace('/live', ''))).body
    expect(list.map(({ changeCount }) => changeCount)).toEqual([1, 2])
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

describe('a push', () => {
  it('moves two prompts to the paths of each other, and changes a text on the way', async () => {
    const project = await createTestProject(api, { a: 'same', b: 'same', user: '<prompt path="a" />' })
    const uuids = [await uuidOf(project.live, 'a'), await uuidOf(project.live, 'b')]
    const draft = await project.newDraft()
    const swapped = await push(draft, [
      { path: 'b', from: 'a', status: 'moved', content: 'new' },
      { path: 'a', from: 'b', status: 'moved' },
    ])
    expect(PushResult.parse(swapped.body)).toMatchObject({ moved: 2, added: 0, deleted: 0, brokenReferences: [] })
    expect(await changesOf(draft)).toMatchObject([
      { path: 'a', status: 'modified', movedFrom: { path: 'b' }, movedTo: 'b', after: { content: 'same' } },
      { path: 'b', status: 'modified', movedFrom: { path: 'a', contentHash: hash('same') }, movedTo: 'a' },
    ])
    expect((await publish(draft)).body).toMatchObject({ changeCount: 2 })
    expect([await uuidOf(project.live, 'b'), await uuidOf(project.live, 'a')]).toEqual(uuids)
    const [{ changeCount } = {}] = (await api<{ changeCount?: number }[]>('GET', project.live.replace('/live', '')))
      .body
    expect(changeCount).toBe(2)
  })

  it.each([
    ['without hashes', {}, {}],
    ['with the bases', { baseHash: hash('a1') }, { baseHash: hash('b1') }],
    ['with the bases and a text', { baseHash: hash('a1'), content: 'a2' }, { baseHash: hash('b1') }],
  ])('swaps once if it is repeated %s', async (_, first, second) => {
    const project = await createTestProject(api, { a: 'a1', b: 'b1' })
    const draft = await project.newDraft()
    const swap = [
      { path: 'b', from: 'a', status: 'moved', ...first },
      { path: 'a', from: 'b', status: 'moved', ...second },
    ]
    expect((await push(draft, swap)).body).toMatchObject({ moved: 2 })
    const swapped = await itemsOf(draft)
    for (const more of [{}, { merge: true }]) {
      if ('merge' in more && !('baseHash' in first)) continue
      expect((await push(draft, swap, more)).body).toMatchObject({ moved: 0, brokenReferences: [] })
      expect(await itemsOf(draft)).toEqual(swapped)
    }
  })

  it.each([{}, { merge: true }])('swaps back if the bases name the swapped prompts (%o)', async (more) => {
    const draft = await (await createTestProject(api, { a: 'a1', b: 'b1' })).newDraft()
    const swap = (a: string, b: string) =>
      push(
        draft,
        [
          { path: 'b', from: 'a', status: 'moved', baseHash: hash(a) },
          { path: 'a', from: 'b', status: 'moved', baseHash: hash(b) },
        ],
        more,
      )
    expect((await swap('a1', 'b1')).body).toMatchObject({ moved: 2 })
    expect((await swap('b1', 'a1')).body).toMatchObject({ moved: 2 })
    expect(await changesOf(draft)).toEqual([])
  })

  it('moves a chain once, and rotates prompts that an earlier push has swapped', async () => {
    const draft = await (await createTestProject(api, { a: 'a1', b: 'b1' })).newDraft()
    const moves = (...pairs: [from: string, path: string][]) =>
      push(
        draft,
        pairs.map(([from, path]) => ({ path, from, status: 'moved' })),
      )
    const textsOf = async () => Object.fromEntries((await itemsOf(draft)).map((item) => [item.path, item.contentHash]))
    for (const moved of [2, 0]) expect((await moves(['b', 'c'], ['a', 'b'])).body).toMatchObject({ moved })
    const repeated = await moves(['a', 'b'], ['b', 'd'])
    expect(repeated).toMatchObject({ status: 404, body: { reason: 'unknown-document' } })
    expect((await moves(['b', 'c'], ['c', 'b'])).body).toMatchObject({ moved: 2 })
    expect(await textsOf()).toMatchObject({ b: hash('b1'), c: hash('a1') })
  })

  it('moves a prompt and adds another at the path that it left', async () => {
    const project = await createTestProject(api, { a: 'a1', user: '<prompt path="a" />' })
    const documentUuid = await uuidOf(project.live, 'a')
    const draft = await project.newDraft()
    const { body } = await push(draft, [
      { path: 'a', status: 'added', content: 'a1' },
      { path: 'b', from: 'a', status: 'moved', baseHash: hash('a1') },
    ])
    expect(body).toMatchObject({ added: 1, moved: 1, brokenReferences: [] })
    expect(await uuidOf(draft, 'a')).not.toBe(documentUuid)
    expect((await publish(draft)).status).toBe(200)
    expect(await uuidOf(project.live, 'b')).toBe(documentUuid)
    expect(await uuidOf(project.live, 'a')).not.toBe(documentUuid)
  })

  it('names all prompts with broken references, also those that move themselves', async () => {
    const prompts = { 'old/part': 'Hi', 'old/whole': '<prompt path="part" />', user: '<prompt path="old/whole" />' }
    const draft = await (await createTestProject(api, prompts)).newDraft()
    const moves = ['part', 'whole'].map((name) => ({ path: `new/${name}`, from: `old/${name}`, status: 'moved' }))
    expect((await push(draft, moves)).body).toMatchObject({ moved: 2, brokenReferences: ['user'] })
    const one = await push(draft, [{ path: 'elsewhere', from: 'new/part', status: 'moved' }])
    expect(one.body).toMatchObject({ brokenReferences: ['new/whole'] })
  })

  it('merges the text of a moved prompt with a newer one of the draft', async () => {
    const text = (first: string, last: string) => `${first}\n2\n3\n4\n${last}\n`
    const [base, mine, theirs] = [text('1', '5'), text('one', '5'), text('1', 'five')]
    const draft = await (await createTestProject(api, { a: base })).newDraft()
    await put(draft, 'a', theirs)
    const moved = { path: 'b', from: 'a', status: 'moved', baseHash: hash(base) }
    expect(await push(draft, [{ ...moved, content: mine }])).toMatchObject({
      status: 409,
      body: { details: { conflicts: [{ path: 'a', expected: hash(base), actual: hash(theirs) }] } },
    })
    const merged = await push(draft, [{ ...moved, content: mine }], { merge: true })
    expect(merged.body).toMatchObject({ moved: 1, merged: [{ path: 'b', content: text('one', 'five') }] })
    // The prompt moves with its current text.
    const back = { path: 'a', from: 'b', status: 'moved', baseHash: hash(base) }
    expect((await push(draft, [back], { merge: true })).status).toBe(200)
    expect((await get(draft, 'a'))['content']).toBe(text('one', 'five'))
  })

  it('with merge moves a prompt with a newer text, but no other prompt that has got its path', async () => {
    const draft = await (await createTestProject(api, { a: 'a1' })).newDraft()
    const pushMove = (from: string, path: string, base: string) =>
      push(draft, [{ path, from, status: 'moved', baseHash: hash(base) }], { merge: true })
    const expectRefusal = async (from: string, base: string, now: string) => {
      const conflicts = [{ path: from, expected: hash(base), actual: hash(now) }]
      const refusal = { status: 409, body: { reason: 'base-changed', details: { conflicts } } }
      expect(await pushMove(from, 'moved', base)).toMatchObject(refusal)
    }
    await put(draft, 'a', 'a2')
    expect((await pushMove('a', 'b', 'a1')).status).toBe(200)
    await put(draft, 'a', 'other')
    await expectRefusal('a', 'a1', 'other')
    expect((await pushMove('a', 'c', 'other')).status).toBe(200)
    // Nothing shows whether a prompt that only the draft has is still the one of the base.
    await put(draft, 'c', 'edited')
    await expectRefusal('c', 'other', 'edited')
    expect((await itemsOf(draft)).filter(({ change }) => change !== 'deleted').map(({ path }) => path)).toEqual([
      'b',
      'c',
    ])
  })

  it('moves 200 prompts of a folder with three statements more than a push of texts', async () => {
    const statements: number[] = []
    const plain: number[] = []
    for (const count of [2, 200]) {
      const names = Array.from({ length: count }, (_, index) => `p${index}`)
      const project = await createTestProject(api, Object.fromEntries(names.map((name) => [`old/${name}`, name])))
      const draft = await project.newDraft()
      const moves = names.map((name) => ({ path: `new/${name}`, from: `old/${name}`, status: 'moved' }))
      const texts = names.map((name) => ({ path: `old/${name}`, status: 'modified', content: `${name} again` }))
      const start = server.database.statementCount()
      expect((await push(draft, texts)).status).toBe(200)
      const before = server.database.statementCount()
      plain.push(before - start)
      expect((await push(draft, moves)).body).toMatchObject({ moved: count, documentsProcessed: count })
      statements.push(server.database.statementCount() - before)
      expect((await publish(draft)).status).toBe(200)
      expect((await itemsOf(project.live)).map(({ path }) => path)).toEqual(moves.map(({ path }) => path).sort())
    }
    expect(plain[1]).toBe(plain[0])
    expect(statements).toEqual(plain.map((count) => count + 3))
  })
})

describe('POST /versions', () => {
  const create = (project: { live: string }, body: object) =>
    api('POST', project.live.replace('/live', ''), { body: { name: 'pull request', ...body } })
  const moved = (path: string, content?: string) => {
    return { path, from: 'a', status: 'moved', baseHash: hash('a1'), ...(content !== undefined && { content }) }
  }

  it('fills and publishes a draft with moves', async () => {
    const project = await createTestProject(api, { a: 'a1', b: 'b1', user: '<prompt path="a" />' })
    const documentUuid = await uuidOf(project.live, 'a')
    const changes = [moved('c', 'c2'), { path: 'user', status: 'modified', content: '<prompt path="c" />' }]
    const broken = await create(project, { changes: [moved('c')], publish: {} })
    expect(broken).toMatchObject({ status: 422, body: { details: { documents: [{ path: 'user' }] } } })
    expect((await create(project, { changes, publish: {} })).status).toBe(200)
    expect(await get(project.live, 'c')).toMatchObject({ documentUuid, content: 'c2' })
  })

  it('lists the prompts that refer to the old paths of its moves, also of a folder that moves into itself', async () => {
    const project = await createTestProject(api, {
      'a/x': 'Hi',
      'a/a/x': '<prompt path="/a/x" />',
      user: '<prompt path="a/x" /><prompt path="a/a/x" />',
    })
    const changes = ['x', 'a/x'].map((name) => ({ path: `a/a/${name}`, from: `a/${name}`, status: 'moved' }))
    const first = await create(project, { changes })
    expect(CreatedVersion.parse(first.body)).toMatchObject({ brokenReferences: ['a/a/a/x', 'user'], changeCount: 2 })
  })

  it('replaces moves by others, and by none', async () => {
    const project = await createTestProject(api, { a: 'a1', b: 'b1' })
    const documentUuid = await uuidOf(project.live, 'a')
    const replaced = async (changes: object[]) => {
      const { status, body } = await create(project, { reuse: true, replace: true, changes })
      expect(status).toBe(200)
      return project.live.replace('live', String(body['uuid']))
    }
    const added = { path: 'a', status: 'added', content: 'other', baseHash: hash('a1') }
    const draft = await replaced([moved('c', 'c2'), added])
    const [other, at] = [await uuidOf(draft, 'a'), (await get(draft, 'a'))['updatedAt']]
    expect(await replaced([moved('c', 'c2'), added])).toBe(draft)
    expect(await get(draft, 'a')).toMatchObject({ documentUuid: other, updatedAt: at })
    await replaced([moved('d')])
    expect(await changesOf(draft)).toMatchObject([
      { path: 'a', movedTo: 'd' },
      { path: 'd', documentUuid },
    ])
    await replaced([{ path: 'd', status: 'added', content: 'a1', baseHash: '' }])
    expect(await changesOf(draft)).toMatchObject([{ path: 'd', status: 'added' }])
    expect(await uuidOf(draft, 'd')).not.toBe(documentUuid)
    expect(await uuidOf(draft, 'a')).toBe(documentUuid)
    await replaced([moved('d'), { path: 'b', status: 'deleted', baseHash: hash('b1') }])
    expect(await uuidOf(draft, 'd')).toBe(documentUuid)
    expect((await publish(draft)).status).toBe(200)
  })
})

describe('a moved prompt', () => {
  it('keeps its examples, evaluations and conversations', async () => {
    const project = await createTestProject(api, { a: 'Hello {{ name }}' })
    const documentUuid = await uuidOf(project.live, 'a')
    const example = { documentUuid, name: 'Ada', parameters: { name: 'Ada' } }
    expect((await api('POST', `/projects/${project.id}/examples`, { body: example })).status).toBe(201)
    const evaluation = { projectId: project.id, name: 'Good', metric: 'binary', documentUuid }
    expect((await api('POST', '/evaluations', { body: evaluation })).status).toBe(201)
    const log = { path: 'a', messages: [{ role: 'user', content: 'Hello Ada' }] }
    expect((await api('POST', `${project.live}/documents/logs`, { body: log })).status).toBe(200)
    const draft = await project.newDraft()
    await move(draft, 'a', 'b')
    await publish(draft)
    const moved = await uuidOf(project.live, 'b')
    const listed = async (path: string) => (await api('GET', `${path}documentUuid=${moved}`)).text
    expect(await listed(`/projects/${project.id}/examples?`)).toContain('"name":"Ada"')
    expect(await listed(`/evaluations?projectId=${project.id}&`)).toContain('"name":"Good"')
    expect(await listed(`/conversations?projectId=${project.id}&`)).toContain('"path":"a"')
  })

  it('keeps its uuid in rollbacks and revisions', async () => {
    const project = await createTestProject(api, { a: 'a1' })
    const documentUuid = await uuidOf(project.live, 'a')
    const draft = await project.newDraft()
    await move(draft, 'a', 'b')
    await publish(draft)
    await put(project.live, 'b', 'forced', { force: true })
    await put(project.draft, 'a', 'forced', { force: true })
    const rollback = () => api('POST', `/projects/${project.id}/environments/live/rollback`, { body: {} })
    expect(await uuidOf(`${draft}@0`, 'b')).toBe(documentUuid)
    for (const path of ['b', 'a']) {
      expect((await rollback()).status).toBe(200)
      expect(await get(project.live, path)).toMatchObject({ documentUuid, content: 'a1' })
    }
  })

  it('leaves its new path to another prompt after a rollback', async () => {
    const project = await createTestProject(api, { a: 'a1' })
    const documentUuid = await uuidOf(project.live, 'a')
    const draft = await project.newDraft()
    await move(draft, 'a', 'b')
    await publish(draft)
    await api('POST', `/projects/${project.id}/environments/live/rollback`, { body: {} })
    const next = await project.newDraft()
    await put(next, 'b', 'b1')
    expect((await publish(next)).status).toBe(200)
    expect(await uuidOf(project.live, 'a')).toBe(documentUuid)
    expect(await uuidOf(draft, 'b')).toBe(documentUuid)
    expect(await uuidOf(project.live, 'b')).not.toBe(documentUuid)
  })

  it('is reverted with both of its paths', async () => {
    const project = await createTestProject(api, { a: 'a1', b: 'b1', c: 'c1' })
    const draft = await project.newDraft()
    // A chain: c is free only after b has left, and so on.
    await push(draft, [
      { path: 'd', from: 'c', status: 'moved' },
      { path: 'c', from: 'b', status: 'moved' },
      { path: 'b', from: 'a', status: 'moved' },
    ])
    await put(draft, 'e', 'e1')
    const { body } = await api('POST', `${draft}/revert`, { body: { paths: ['d'] } })
    expect(body['reverted']).toMatchObject([
      { path: 'd', action: 'removed' },
      { path: 'a', action: 'restored' },
      { path: 'b', action: 'reset' },
      { path: 'c', action: 'reset' },
    ])
    expect((await changesOf(draft)).map(({ path }) => path)).toEqual(['e'])
  })
})

describe('a moved prompt that is deleted', () => {
  const remove = (version: string, path: string) => api('DELETE', `${version}/documents/${path}`)
  const change = (path: string, content?: string) => {
    return content === undefined ? { path, status: 'deleted' } : { path, status: 'added', content }
  }

  /** Returns a draft that has moved `a` to `b` and deleted it there. */
  async function deleted() {
    const project = await createTestProject(api, { a: 'a1', x: 'x1' })
    const documentUuid = String(await uuidOf(project.live, 'a'))
    const draft = await project.newDraft()
    await move(draft, 'a', 'b')
    await put(draft, 'b', 'b1')
    expect((await remove(draft, 'b')).body['documentUuid']).toBe(documentUuid)
    expect(await changesOf(draft)).toMatchObject([{ path: 'a', status: 'deleted', documentUuid }])
    expect((await api('GET', draft)).body['changeCount']).toBe(1)
    return { project, draft, documentUuid }
  }

  it.each([
    ['the route', (draft: string) => put(draft, 'b', 'b1')],
    [
      'the route that only creates',
      (draft: string) => api('POST', `${draft}/documents`, { body: { path: 'b', prompt: 'b1' } }),
    ],
    ['push', (draft: string) => push(draft, [change('b', 'b1')])],
  ])('is the same prompt when %s makes it again, as an undo does', async (_, create) => {
    const { project, draft, documentUuid } = await deleted()
    expect((await create(draft)).status).toBe(200)
    expect(await get(draft, 'b')).toMatchObject({ documentUuid, movedFrom: 'a', content: 'b1' })
    expect((await publish(draft)).body).toMatchObject({ changeCount: 1 })
    expect(await uuidOf(project.live, 'b')).toBe(documentUuid)
  })

  it('is at one path only, whichever is made first', async () => {
    const { project, draft, documentUuid } = await deleted()
    await put(draft, 'a', 'again')
    await put(draft, 'b', 'other')
    expect(await uuidOf(draft, 'a')).toBe(documentUuid)
    expect(await get(draft, 'b')).not.toHaveProperty('movedFrom')
    expect((await publish(draft)).status).toBe(200)
    expect(await uuidOf(project.live, 'a')).toBe(documentUuid)
    expect(await uuidOf(project.live, 'b')).not.toBe(documentUuid)
    for (const paths of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      const { draft: again, documentUuid: uuid } = await deleted()
      await push(
        again,
        paths.map((path) => change(path, path)),
      )
      expect([await uuidOf(again, paths[0] as string), await uuidOf(again, paths[1] as string)]).toEqual([
        uuid,
        expect.not.stringMatching(uuid),
      ])
      expect((await publish(again)).status).toBe(200)
    }
  })

  it('is back at its old path by a revert of either path', async () => {
    for (const path of ['a', 'b']) {
      const { draft, documentUuid } = await deleted()
      const { body } = await api('POST', `${draft}/revert`, { body: { paths: [path] } })
      expect(body['reverted']).toEqual([{ path: 'a', documentUuid, action: 'restored' }])
      expect(await changesOf(draft)).toEqual([])
      await put(draft, 'b', 'b2')
      expect(await uuidOf(draft, 'b')).not.toBe(documentUuid)
      expect(await uuidOf(draft, 'a')).toBe(documentUuid)
    }
  })

  it('stays deleted at the path where a revert finds another prompt by then', async () => {
    const { draft, documentUuid } = await deleted()
    await put(draft, 'a', 'again')
    expect((await api('POST', `${draft}/revert`, { body: { paths: ['b'] } })).body['reverted']).toEqual([])
    expect(await get(draft, 'a')).toMatchObject({ documentUuid, content: 'again' })
  })

  it("shows live's prompt as the deleted one where two prompts had swapped", async () => {
    const project = await createTestProject(api, { a: 'a1', b: 'b1' })
    const [first, second] = [await uuidOf(project.live, 'a'), await uuidOf(project.live, 'b')]
    const draft = await project.newDraft()
    await push(draft, [
      { path: 'b', from: 'a', status: 'moved' },
      { path: 'a', from: 'b', status: 'moved' },
    ])
    await remove(draft, 'b')
    const gone = { path: 'b', documentUuid: second, contentHash: hash('b1') }
    expect((await itemsOf(draft)).find(({ path }) => path === 'b')).toMatchObject({ ...gone, change: 'deleted' })
    expect(await changesOf(draft)).toMatchObject([
      { path: 'a', movedFrom: { path: 'b' } },
      { documentUuid: second, movedTo: 'a' },
    ])
    await put(draft, 'b', 'b2')
    expect(await get(draft, 'b')).toMatchObject({ documentUuid: first, movedFrom: 'a' })
    expect((await publish(draft)).status).toBe(200)
    expect([await uuidOf(project.live, 'a'), await uuidOf(project.live, 'b')]).toEqual([second, first])
  })

  it('is another prompt in a later version, and the old one after a rollback', async () => {
    const { project, draft, documentUuid } = await deleted()
    expect((await publish(draft)).status).toBe(200)
    const next = await project.newDraft()
    await put(next, 'b', 'b1')
    await publish(next)
    expect(await uuidOf(project.live, 'b')).not.toBe(documentUuid)
    for (let step = 0; step < 2; step += 1) {
      await api('POST', `/projects/${project.id}/environments/live/rollback`, { body: {} })
    }
    expect(await uuidOf(project.live, 'a')).toBe(documentUuid)
  })
})

describe('a conflict of a move with live', () => {
  const text = (first: string, last: string) => `${first}\n2\n3\n4\n${last}\n`
  const [base, edited] = [text('1', '5'), text('1', 'five')]

  /** Returns a draft that moves `a` to `b`, over a live version that has changed since. */
  async function contested(changes: object[], mine = text('one', '5')) {
    const project = await createTestProject(api, { a: base, x: 'x1' })
    const documentUuid = String(await uuidOf(project.live, 'a'))
    const [draft, other] = [await project.newDraft(), await project.newDraft()]
    await push(draft, [{ path: 'b', from: 'a', status: 'moved', content: mine }])
    await push(other, changes)
    expect((await publish(other)).status).toBe(200)
    return { project, draft, documentUuid }
  }

  const expectConflict = async (draft: string, expected: object, more: object = {}) => {
    const refused = await publish(draft, more)
    expect(refused).toMatchObject({ status: 409, body: { reason: 'live-changed' } })
    expect(refused.body.details?.['conflicts']).toEqual([expect.objectContaining(expected)])
    return (refused.body.details?.['conflicts'] as { merged?: string }[] | undefined)?.[0]
  }

  it('is merged into the new path if live has edited other lines', async () => {
    const { project, draft, documentUuid } = await contested([{ path: 'a', status: 'modified', content: edited }])
    const hashes = { baseHash: hash(base), liveHash: hash(edited), draftHash: hash(text('one', '5')) }
    await expectConflict(draft, { path: 'a', documentUuid, movedTo: 'b', ...hashes })
    expect((await changesOf(draft)).map(({ path, conflict }) => [path, conflict])).toEqual([
      ['a', true],
      ['b', true],
    ])
    expect((await publish(draft, { merge: true })).status).toBe(200)
    expect(await get(project.live, 'b')).toMatchObject({ documentUuid, content: text('one', 'five') })
    expect((await itemsOf(project.live)).map(({ path }) => path)).toEqual(['b', 'x'])
  })

  it('is merged by an update of the draft, of both prompts of a swap', async () => {
    const project = await createTestProject(api, { a: base, b: base })
    const [draft, other] = [await project.newDraft(), await project.newDraft()]
    await push(draft, [
      { path: 'b', from: 'a', status: 'moved', content: text('A', '5') },
      { path: 'a', from: 'b', status: 'moved', content: text('B', '5') },
    ])
    await put(other, 'a', text('1', 'live A'))
    await put(other, 'b', text('1', 'live B'))
    await publish(other)
    const { body } = await api('POST', `${draft}/update`, { body: { paths: ['a', 'b'] } })
    expect(body).toMatchObject({ updated: [{ path: 'b' }, { path: 'a' }], conflicts: [] })
    expect((await get(draft, 'b'))['content']).toBe(text('A', 'live A'))
    expect((await get(draft, 'a'))['content']).toBe(text('B', 'live B'))
    expect((await publish(draft)).status).toBe(200)
  })

  it('is resolved by the same move with the merged text', async () => {
    const theirs = text('uno', '5')
    const { project, draft, documentUuid } = await contested([{ path: 'a', status: 'modified', content: theirs }])
    const draftHash = hash(text('one', '5'))
    const conflict = await expectConflict(draft, { path: 'a', movedTo: 'b', draftHash }, { merge: true })
    expect(conflict?.merged).toContain('<<<<<<< draft\none\n=======\nuno\n>>>>>>> live')
    const move = { path: 'b', from: 'a', status: 'moved', content: text('one, uno', '5') }
    const resolved = await push(draft, [{ ...move, baseHash: draftHash, liveHash: hash(theirs) }])
    expect(resolved.body).toMatchObject({ moved: 1 })
    expect((await publish(draft)).status).toBe(200)
    expect(await get(project.live, 'b')).toMatchObject({ documentUuid, content: text('one, uno', '5') })
  })

  it('is resolved by the same move although the draft has another prompt at the old path', async () => {
    const { project, draft, documentUuid } = await contested([{ path: 'a', status: 'modified', content: edited }])
    await put(draft, 'a', 'another')
    await expectConflict(draft, { path: 'a', movedTo: 'b' })
    const move = { path: 'b', from: 'a', status: 'moved' }
    const taken = { status: 409, body: { reason: 'path-taken' } }
    for (const hashes of [{}, { baseHash: hash('another') }]) {
      expect(await push(draft, [{ ...move, ...hashes }])).toMatchObject(taken)
    }
    const hashes = { baseHash: hash(text('one', '5')), liveHash: hash(edited) }
    const resolved = await push(draft, [{ ...move, ...hashes, content: text('one', 'five') }])
    expect(resolved.body).toMatchObject({ moved: 1, brokenReferences: [] })
    expect((await publish(draft)).status).toBe(200)
    expect(await get(project.live, 'b')).toMatchObject({ documentUuid, content: text('one', 'five') })
    expect((await get(project.live, 'a'))['content']).toBe('another')
  })

  it('is no conflict if live has the text of the draft', async () => {
    const { draft } = await contested([{ path: 'a', status: 'modified', content: edited }], edited)
    expect((await publish(draft)).status).toBe(200)
  })

  it('stays one if live has another prompt at the new path, even with an equal text', async () => {
    const { project, draft, documentUuid } = await contested([{ path: 'b', status: 'added', content: base }], base)
    const hashes = { baseHash: null, liveHash: hash(base), draftHash: hash(base) }
    for (const more of [{}, { merge: true }]) await expectConflict(draft, { path: 'b', ...hashes }, more)
    await push(draft, [{ path: 'b', status: 'modified', content: base, liveHash: hash(base) }])
    expect((await publish(draft)).status).toBe(200)
    expect(await uuidOf(project.live, 'b')).toBe(documentUuid)
  })

  it.each(['a', 'c'])('ends if the prompt moves on to %s, away from another prompt of live', async (path) => {
    const { project, draft } = await contested([{ path: 'b', status: 'added', content: 'b1' }], base)
    await move(draft, 'b', path)
    const changed = (await changesOf(draft)).map((change) => [change.path, change.status, change.conflict])
    const wanted = [
      ['a', 'deleted', false],
      ['c', 'added', false],
    ]
    expect(changed).toEqual(path === 'a' ? [] : wanted)
    expect((await publish(draft)).status).toBe(200)
    expect((await itemsOf(project.live)).map((item) => item.path)).toEqual([path, 'b', 'x'].sort())
  })

  it('is none at a path where the draft has deleted a prompt, put another one, and moved that on', async () => {
    const project = await createTestProject(api, { a: 'a1', b: 'b1' })
    const draft = await project.newDraft()
    await push(draft, [{ path: 'b', status: 'deleted' }])
    for (const [from, to] of ['ab', 'bc']) await move(draft, String(from), String(to))
    expect((await publish(draft)).status).toBe(200)
    expect((await itemsOf(project.live)).map(({ path }) => path)).toEqual(['c'])
  })

  it('stays one if live has deleted the prompt, which can then be kept', async () => {
    const { project, draft, documentUuid } = await contested([{ path: 'a', status: 'deleted' }])
    const hashes = { baseHash: hash(base), liveHash: null, draftHash: hash(text('one', '5')) }
    for (const more of [{}, { merge: true }]) await expectConflict(draft, { path: 'a', movedTo: 'b', ...hashes }, more)
    expect((await changesOf(draft)).map(({ path, conflict }) => [path, conflict])).toEqual([['b', true]])
    await push(draft, [{ path: 'b', from: 'a', status: 'moved', liveHash: '' }])
    expect((await publish(draft)).status).toBe(200)
    expect(await get(project.live, 'b')).toMatchObject({ documentUuid, content: text('one', '5') })
  })

  it('gives a second prompt another uuid if live has moved it elsewhere and the draft is forced', async () => {
    const { project, draft, documentUuid } = await contested([{ path: 'c', from: 'a', status: 'moved' }])
    await expectConflict(draft, { path: 'a', liveHash: null, movedTo: 'b' })
    expect((await publish(draft, { force: true })).status).toBe(200)
    expect(await uuidOf(project.live, 'c')).toBe(documentUuid)
    expect(await uuidOf(project.live, 'b')).not.toBe(documentUuid)
  })
})
