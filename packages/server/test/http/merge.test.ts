import { createHash } from 'node:crypto'
import { CreatedVersion, UpdateResult } from '@stet/contract'
import { describe, expect, it } from 'vitest'
import { createTestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()

const lines = (...changed: [at: number, line: string][]) => {
  const all = Array.from({ length: 9 }, (_, index) => `line ${index + 1}`)
  for (const [at, line] of changed) all[at - 1] = line
  return `${all.join('\n')}\n`
}
const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const base = lines()
const [first, last] = [lines([1, 'FIRST']), lines([9, 'LAST'])]
const both = lines([1, 'FIRST'], [9, 'LAST'])
const overlapping = lines([1, 'other'])
const marked = `<<<<<<< yours\nother\n=======\nFIRST\n>>>>>>> draft\n${base.slice('line 1\n'.length)}`

const put = (version: string, prompt: string, more: object = {}) =>
  api('POST', `${version}/documents/create-or-update`, { body: { path: 'a', prompt, ...more } })
const push = (version: string, changes: object[], more: object = {}) =>
  api('POST', `${version}/push`, { body: { changes, ...more } })
const publish = (version: string, more: object = {}) => api('POST', `${version}/publish`, { body: more })
const textOf = async (version: string, path = 'a') => (await api('GET', `${version}/documents/${path}`)).body['content']
const merging = (on: string, more: object = {}) => ({ merge: true, baseHash: hash(on), ...more })

/** Returns a draft in which someone has saved `first`, live having `base`. */
async function changedDraft(): Promise<string> {
  const draft = await (await createTestProject(api, { a: base })).newDraft()
  await put(draft, first)
  return draft
}

/** Returns a draft with `mine` over a live version that has had `theirs` since. `null` deletes the prompt. */
async function collision(mine: string | null, theirs: string | null) {
  const project = await createTestProject(api, { a: base })
  const [draft, other] = [await project.newDraft(), await project.newDraft()]
  const change = (version: string, text: string | null) =>
    text === null ? api('DELETE', `${version}/documents/a`) : put(version, text)
  await change(draft, mine)
  await change(other, theirs)
  await publish(other)
  return { project, draft }
}

describe('a write with merge', () => {
  it('merges changes of other lines, and stores the result', async () => {
    const draft = await changedDraft()
    const saved = await put(draft, last, merging(base))
    expect(saved).toMatchObject({ status: 200, body: { merged: true, content: both, contentHash: hash(both) } })
    expect(saved.headers.get('etag')).toBe(`"${hash(both)}"`)
    expect(await textOf(draft)).toBe(both)
  })

  it('is a plain write while the base is current', async () => {
    const draft = await changedDraft()
    const saved = await put(draft, both, merging(first))
    expect(saved).toMatchObject({ status: 200, body: { content: both } })
    expect(saved.body).not.toHaveProperty('merged')
    const unchanged = await put(draft, last, { baseHash: hash(first) })
    expect(unchanged.body).not.toHaveProperty('merged')
  })

  it('refuses overlapping changes with both texts, and writes nothing', async () => {
    const draft = await changedDraft()
    const hashes = { path: 'a', expected: hash(base), actual: hash(first) }
    const refused = await put(draft, overlapping, merging(base))
    expect(refused).toMatchObject({ status: 409, body: { reason: 'base-changed' } })
    expect(refused.body.details).toEqual({
      conflicts: [{ ...hashes, merged: marked, regions: [{ line: 1, lines: 5 }] }],
    })
    expect(await textOf(draft)).toBe(first)
    const plain = await put(draft, overlapping, { baseHash: hash(base) })
    expect(plain.body.details).toEqual({ conflicts: [hashes] })
  })

  it('never guesses a base: without one, every difference conflicts', async () => {
    const draft = await changedDraft()
    await put(draft, both)
    // The draft's former text is stored nowhere.
    const unknown = await put(draft, lines([1, 'FIRST'], [5, 'mine']), merging(first))
    expect(unknown).toMatchObject({ status: 409, body: { details: { conflicts: [{ baseUnknown: true }] } } })
    const given = await put(draft, lines([1, 'FIRST'], [5, 'mine']), merging(first, { base: first }))
    expect(given.body).toMatchObject({ merged: true, content: lines([1, 'FIRST'], [5, 'mine'], [9, 'LAST']) })
    expect(await put(draft, last, merging(base, { base: first }))).toMatchObject({
      status: 400,
      body: { reason: 'base-mismatch', details: { path: 'a' } },
    })
    for (const refused of [
      put(draft, last, { merge: true }),
      push(draft, [{ path: 'a', status: 'deleted' }], { merge: true }),
    ])
      expect(await refused).toMatchObject({ status: 400, body: { reason: 'invalid-body' } })
  })

  it('merges texts that both sides added only if they are equal', async () => {
    const draft = await changedDraft()
    const added = (prompt: string) => put(draft, prompt, { path: 'new', merge: true, baseHash: '' })
    expect((await added('one\n')).status).toBe(200)
    expect((await added('one\n')).status).toBe(200)
    const refused = await added('two\n')
    expect(refused).toMatchObject({
      status: 409,
      body: { details: { conflicts: [{ regions: [{ line: 1, lines: 5 }] }] } },
    })
    expect(refused.text).not.toContain('baseUnknown')
  })

  it('refuses an edit of a deleted prompt', async () => {
    const draft = await changedDraft()
    await api('DELETE', `${draft}/documents/a`)
    const refused = await put(draft, last, merging(base))
    expect(refused).toMatchObject({
      status: 409,
      body: { details: { conflicts: [{ actual: null, merged: null, regions: [] }] } },
    })
  })

  it('refuses a result that does not compile although both sides do', async () => {
    const body = (before: string, after: string) => `---\n${before}provider: openai\nmodel: m\n${after}---\nHello\n`
    const draft = await (await createTestProject(api, { a: body('', '') })).newDraft()
    await put(draft, body('temperature: 1\n', ''))
    const refused = await put(draft, body('', 'temperature: 0\n'), merging(body('', '')))
    expect(refused).toMatchObject({ status: 409, body: { details: { conflicts: [{ actual: expect.any(String) }] } } })
    expect(refused.text).toContain('<<<<<<< yours')
  })

  it('refuses a result that is too large, and leaves large texts out of the error', async () => {
    // A result that compiles would be too large for the language first.
    const long = `{{ ${'x'.repeat(150_000)}`
    const draft = await changedDraft()
    await put(draft, lines([1, long]))
    const refused = await put(draft, lines([9, long]), merging(base))
    expect(refused).toMatchObject({ status: 409, body: { details: { conflicts: [{ merged: null, regions: [] }] } } })
    const shown = await put(draft, lines([1, 'other']), merging(base))
    expect(shown.body.details).toMatchObject({ conflicts: [{ merged: null, regions: [{ line: 1, lines: 5 }] }] })
  })

  it('merges with the newest text if another write comes first', async () => {
    const draft = await changedDraft()
    const saves = Array.from({ length: 9 }, (_, at) => put(draft, lines([at + 1, `saved ${at}`]), merging(base)))
    const [overlapped, ...others] = await Promise.all(saves)
    expect(overlapped?.status).toBe(409)
    // Touching changes conflict, so the result contains those of the writes that succeeded.
    const text = String(await textOf(draft))
    expect(text).toContain('FIRST')
    for (const [index, { status }] of others.entries())
      expect(text.includes(`saved ${index + 1}`), `line ${index + 2}`).toBe(status === 200)
  })

  it('replays the stored response for its key, and merges again for a new one', async () => {
    const draft = await changedDraft()
    const save = (key: string) =>
      api('POST', `${draft}/documents/create-or-update`, {
        body: { path: 'a', prompt: last, ...merging(base) },
        headers: { 'idempotency-key': key },
      })
    const [one, two] = [crypto.randomUUID(), crypto.randomUUID()]
    expect((await save(one)).body['content']).toBe(both)
    await put(draft, lines([1, 'FIRST'], [5, 'newer'], [9, 'LAST']))
    const replayed = await save(one)
    expect(replayed.headers.get('idempotency-replayed')).toBe('true')
    expect(replayed.body['content']).toBe(both)
    expect((await save(two)).body['content']).toBe(lines([1, 'FIRST'], [5, 'newer'], [9, 'LAST']))
  })
})

describe('a push with merge', () => {
  const modified = (path: string, content: string) => ({ path, content, status: 'modified', baseHash: hash(base) })

  it('merges each text whose base has changed, and returns it', async () => {
    const project = await createTestProject(api, { a: base, b: base, gone: base })
    const draft = await project.newDraft()
    await put(draft, first)
    await api('DELETE', `${draft}/documents/gone`)
    const changes = [
      modified('a', last),
      modified('b', last),
      { path: 'gone', status: 'deleted', baseHash: hash(base) },
    ]
    const pushed = await push(draft, changes, { merge: true })
    expect(pushed.body).toMatchObject({
      documentsProcessed: 3,
      modified: 2,
      merged: [{ path: 'a', content: both, contentHash: hash(both) }],
    })
    expect([await textOf(draft), await textOf(draft, 'b')]).toEqual([both, last])
  })

  it('writes nothing if one text conflicts, and names only those', async () => {
    const project = await createTestProject(api, { a: base, b: base, c: base })
    const draft = await project.newDraft()
    for (const path of ['a', 'b', 'c']) await put(draft, first, { path })
    const changes = [modified('a', last), modified('b', overlapping), { ...modified('c', ''), status: 'deleted' }]
    const refused = await push(draft, changes, { merge: true })
    expect(refused).toMatchObject({ status: 409, body: { reason: 'base-changed' } })
    expect(refused.body.details).toMatchObject({
      conflicts: [
        { path: 'b', merged: marked },
        { path: 'c', merged: null, regions: [] },
      ],
    })
    expect([await textOf(draft), await textOf(draft, 'b')]).toEqual([first, first])
  })

  it('lets merged texts refer to others of the push', async () => {
    const draft = await changedDraft()
    const refers = lines([9, '<prompt path="part" />'])
    const changes = [modified('a', refers), { path: 'part', status: 'added', content: 'Part', baseHash: '' }]
    expect(await push(draft, changes, { merge: true })).toMatchObject({ status: 200, body: { added: 1, modified: 1 } })
  })

  it('writes at most 5 MB of merged text, and names what it has not merged', async () => {
    const paths = Array.from({ length: 22 }, (_, index) => `large/${index}`)
    const project = await createTestProject(api, Object.fromEntries(paths.map((path) => [path, base])))
    const draft = await project.newDraft()
    const long = `${base}${'x'.repeat(240_000)}\n`
    for (const some of [paths.slice(0, 11), paths.slice(11)]) {
      const changes = some.map((path) => ({ path, status: 'modified', content: long }))
      expect((await push(draft, changes)).status).toBe(200)
    }
    const mine = paths.map((path) => modified(path, first))
    const refused = await push(draft, mine, { merge: true })
    expect(refused).toMatchObject({ status: 409, body: { reason: 'base-changed' } })
    expect(refused.body.details).toMatchObject({
      conflicts: [{ path: 'large/21', merged: null, regions: [], skipped: true }],
    })
    expect((await push(draft, mine.slice(0, -1), { merge: true })).status).toBe(200)
  })
})

describe('a new version with merge', () => {
  const create = (project: { live: string }, content: string, more: object = {}) =>
    api('POST', project.live.replace('/live', ''), {
      body: {
        name: 'mine',
        merge: true,
        changes: [{ path: 'a', status: 'modified', content, baseHash: hash(base) }],
        ...more,
      },
    })

  /** Returns a project whose live version has had `first` since `base`. */
  async function changedLive() {
    const { project } = await collision(base, first)
    return project
  }

  it.each([{}, { reuse: true, replace: true }, { publish: {} }])('merges its changes with live (%o)', async (more) => {
    const project = await changedLive()
    const { status, body } = await create(project, last, more)
    expect(status).toBe(200)
    expect(CreatedVersion.parse(body)).toMatchObject({ merged: [{ path: 'a', content: both }], changeCount: 1 })
    const version = project.live.replace('live', String(body['uuid']))
    expect(await textOf(version)).toBe(both)
    if (!('publish' in more)) expect((await publish(version)).status).toBe(200)
  })

  it('merges with the texts of a draft that it reuses', async () => {
    const project = await createTestProject(api, { a: base })
    await create(project, first)
    const { body } = await create(project, last, { reuse: true })
    expect(body).toMatchObject({ merged: [{ path: 'a', content: both }] })
    const refused = await create(project, overlapping, { reuse: true })
    expect(refused).toMatchObject({ status: 409, body: { reason: 'base-changed' } })
  })

  it.each([{}, { publish: {} }])('leaves no draft if its changes overlap with those of live (%o)', async (more) => {
    const project = await changedLive()
    const count = async () => ((await api('GET', project.live.replace('/live', ''))).body as unknown as []).length
    const before = await count()
    const refused = await create(project, overlapping, more)
    const conflicts = [{ path: 'a', merged: marked.replace('> draft', '> live') }]
    expect(refused).toMatchObject({ status: 409, body: { reason: 'base-changed', details: { conflicts } } })
    expect(await count()).toBe(before)
  })
})

describe('a publication with merge', () => {
  it("merges live's changes of other lines", async () => {
    const { project, draft } = await collision(first, last)
    expect((await publish(draft)).status).toBe(409)
    expect(await publish(draft, { merge: true })).toMatchObject({ status: 200, body: { version: 3, changeCount: 1 } })
    expect(await textOf(project.live)).toBe(both)
  })

  it('merges with a forced edit of live, whose old text only its revision has', async () => {
    const project = await createTestProject(api, { a: base })
    const draft = await project.newDraft()
    await put(draft, first)
    expect((await put(project.live, last, { force: true })).status).toBe(200)
    expect((await publish(draft, { merge: true })).status).toBe(200)
    expect(await textOf(project.live)).toBe(both)
  })

  it('refuses overlapping changes and deletions, and publishes nothing', async () => {
    const overlap = await collision(overlapping, first)
    const refused = await publish(overlap.draft, { merge: true })
    expect(refused).toMatchObject({ status: 409, body: { reason: 'live-changed' } })
    expect(refused.body.details).toEqual({
      conflicts: [
        {
          path: 'a',
          documentUuid: expect.any(String),
          baseHash: hash(base),
          liveHash: hash(first),
          draftHash: hash(overlapping),
          merged: marked.replace('yours', 'draft').replace('> draft', '> live'),
          regions: [{ line: 1, lines: 5 }],
        },
      ],
    })
    expect(await textOf(overlap.draft)).toBe(overlapping)
    for (const [mine, theirs] of [
      [null, last],
      [first, null],
    ] as const) {
      const { draft } = await collision(mine, theirs)
      const conflicts = [{ path: 'a', merged: null, regions: [] }]
      expect(await publish(draft, { merge: true })).toMatchObject({ status: 409, body: { details: { conflicts } } })
    }
    expect((await publish(overlap.draft, { merge: true, force: true })).status).toBe(200)
    expect(await textOf(overlap.project.live)).toBe(overlapping)
  })

  it('publishes what it compiled, with references to merged texts', async () => {
    const { project, draft } = await collision(first, last)
    await put(draft, '<prompt path="a" />', { path: 'refers' })
    expect((await publish(draft, { merge: true })).status).toBe(200)
    const { body } = await api('GET', `${project.live}/documents/refers`)
    expect(body['resolvedContent']).toContain('FIRST')
    expect(body['resolvedContent']).toContain('LAST')
    const broken = await collision(lines([1, '{{ if a }}']), last)
    expect(await publish(broken.draft, { merge: true })).toMatchObject({ status: 422 })
    expect(await textOf(broken.draft)).toBe(lines([1, '{{ if a }}']))
  })

  it('lets concurrent publications of drafts with different lines all succeed', async () => {
    const project = await createTestProject(api, { a: base })
    const drafts = await Promise.all([1, 3, 5, 7, 9].map(async (at) => ({ at, draft: await project.newDraft() })))
    for (const { at, draft } of drafts) await put(draft, lines([at, `draft ${at}`]))
    const published = await Promise.all(drafts.map(({ draft }) => publish(draft, { merge: true })))
    expect(published.map(({ status }) => status)).toEqual(drafts.map(() => 200))
    expect(await textOf(project.live)).toBe(lines(...drafts.map(({ at }): [number, string] => [at, `draft ${at}`])))
  })
})

describe('an update of a draft', () => {
  it('merges what it can from live, and lists the rest', async () => {
    const project = await createTestProject(api, { a: base, b: base, c: base })
    const [draft, other] = [await project.newDraft(), await project.newDraft()]
    for (const path of ['a', 'b']) await put(draft, first, { path })
    await put(other, last)
    await put(other, overlapping, { path: 'b' })
    await put(other, last, { path: 'c' })
    await publish(other)
    expect((await api('POST', `${draft}/update`, { body: { paths: ['c'] } })).body).toMatchObject({ updated: [] })
    const { body } = await api('POST', `${draft}/update`)
    expect(body).toMatchObject({
      updated: [{ path: 'a', contentHash: hash(both) }],
      conflicts: [{ path: 'b', liveHash: hash(overlapping), draftHash: hash(first), regions: [{ line: 1, lines: 5 }] }],
    })
    expect([await textOf(draft), await textOf(draft, 'b')]).toEqual([both, first])
    await api('POST', `${draft}/revert`, { body: { paths: ['b'] } })
    expect((await publish(draft)).status).toBe(200)
    expect(await textOf(project.live)).toBe(both)
    expect(await api('POST', `${draft}/update`)).toMatchObject({ status: 400, body: { reason: 'merged-version' } })
  })

  it('merges what it can after any number of conflicts, whose texts it shows up to 4 MB', async () => {
    const large = Array.from({ length: 9 }, (_, index) => `large/${index}`)
    const shown = Array.from({ length: 70 }, (_, index) => `shown/${index}`)
    const paths = [...large, ...shown, 'z']
    const project = await createTestProject(api, Object.fromEntries(paths.map((path) => [path, base])))
    const [draft, other] = [await project.newDraft(), await project.newDraft()]
    const changed = (some: string[], text: string) => some.map((path) => ({ path, status: 'modified', content: text }))
    await push(draft, [...changed(large, 'x'.repeat(240_000)), ...changed(shown, 'x'), ...changed(['z'], first)])
    await push(other, [...changed(large, 'y'.repeat(240_000)), ...changed(['z'], last)])
    for (const half of [shown.slice(0, 35), shown.slice(35)]) {
      expect((await push(other, changed(half, 'y'.repeat(62_000)))).status).toBe(200)
    }
    expect((await publish(other)).status).toBe(200)
    const { body } = await api('POST', `${draft}/update`)
    expect(body['updated']).toEqual([{ path: 'z', contentHash: hash(both) }])
    const conflicts = UpdateResult.parse(body).conflicts
    expect(conflicts).toHaveLength(79)
    expect(conflicts.filter(({ regions, skipped }) => regions.length !== 1 || skipped)).toEqual([])
    expect(conflicts.slice(0, large.length).filter(({ merged }) => merged !== null)).toEqual([])
    const texts = conflicts.flatMap(({ merged }) => merged ?? [])
    expect(texts.length).toBeLessThan(shown.length)
    expect(texts.join('').length).toBeLessThanOrEqual(4_194_304)
    expect(texts.join('').length).toBeGreaterThan(4_100_000)
  })

  it('changes nothing without a conflict', async () => {
    const draft = await changedDraft()
    const before = (await api('GET', draft)).body['updatedAt']
    expect((await api('POST', `${draft}/update`)).body).toMatchObject({ updated: [], conflicts: [] })
    expect((await api('GET', draft)).body['updatedAt']).toBe(before)
  })
})

describe('a merge of texts', () => {
  const merge = (version: string, ...items: object[]) =>
    api('POST', `${version}/documents/merge`, { body: { items: items.map((item) => ({ path: 'a', ...item })) } })

  it('returns the results and writes nothing', async () => {
    const draft = await changedDraft()
    const on = { baseHash: hash(base) }
    const { body } = await merge(
      draft,
      { prompt: last, ...on },
      { prompt: overlapping, ...on },
      { prompt: last, baseHash: hash('other') },
      { path: 'none', prompt: last, ...on },
      { path: 'none', prompt: last, baseHash: '' },
    )
    const theirsHash = hash(first)
    expect(body).toMatchObject([
      { path: 'a', content: both, contentHash: hash(both), theirsHash, conflicts: [] },
      { path: 'a', content: marked.replace('> draft', '> theirs'), theirsHash, conflicts: [{ line: 1, lines: 5 }] },
      { path: 'a', theirsHash, baseUnknown: true },
      { path: 'none', content: last, theirsHash: null, conflicts: [{ line: 1, lines: 10 }] },
      { path: 'none', content: last, theirsHash: null, conflicts: [] },
    ])
    expect(await textOf(draft)).toBe(first)
  })

  it('takes 1 to 20 items, each with a base that has its hash', async () => {
    const draft = await changedDraft()
    const item = { prompt: last, baseHash: hash(base) }
    for (const many of [0, 21])
      expect((await merge(draft, ...Array.from({ length: many }, () => item))).status).toBe(400)
    expect((await merge(draft, ...Array.from({ length: 20 }, () => item))).status).toBe(200)
    expect(await merge(draft, { ...item, base: first })).toMatchObject({ body: { reason: 'base-mismatch' } })
    expect(await api('PUT', `${draft}/documents/merge`)).toMatchObject({
      status: 405,
      body: { details: { allow: ['DELETE', 'GET', 'HEAD', 'POST'] } },
    })
  })
})

it('costs a write without merge, and one on a current base, no further statement', async () => {
  const { database } = server
  const draft = await changedDraft()
  const statementsOf = async (work: () => Promise<unknown>) => {
    const before = database.statementCount()
    await work()
    return database.statementCount() - before
  }
  const plain = await statementsOf(() => put(draft, lines([2, 'x']), { baseHash: hash(first) }))
  expect(await statementsOf(() => put(draft, lines([3, 'x']), merging(lines([2, 'x']))))).toBe(plain)
})
