import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKnownTexts } from '../../src/adapters/evaluation/scan-cache.ts'
import { shownIn } from '../../src/features/documents/overlay.ts'
import { listDocuments, listUnresolved, preparePrompt } from '../../src/features/documents/read-document.ts'
import { getOrCreateDocument } from '../../src/features/documents/save-document.ts'
import { findProject, resolveVersion } from '../../src/features/documents/version-ref.ts'
import { updateProject } from '../../src/features/projects/save-project.ts'
import { count, timeFor } from '../support/counts.ts'
import { endlessAnswer, startEngine } from '../templates/support/engine.ts'
import { all, type Bench, failure, newBench, openWorkbench, type Workbench } from './workbench.ts'

let workbench: Workbench

beforeAll(async () => {
  workbench = await openWorkbench()
})
afterAll(() => workbench.close())

async function published(texts: Record<string, string>): Promise<Bench> {
  const bench = await newBench(workbench)
  for (const [path, content] of Object.entries(texts)) await bench.put(bench.draft, path, content)
  await bench.publish(bench.draft)
  return bench
}

describe('draft overlay', () => {
  it("shows the current live version with the draft's changes on top", async () => {
    const bench = await published({ a: 'a1', b: 'b1', c: 'c1' })
    const draft = await bench.newDraft()
    await bench.put(draft, 'a', 'mine')
    await bench.remove(draft, 'b')
    await bench.put(draft, 'd', 'new')
    const other = await bench.newDraft()
    await bench.put(other, 'a', 'theirs')
    await bench.put(other, 'c', 'c2')
    await bench.put(other, 'e', 'e2')
    await bench.publish(other)
    expect(await bench.texts(draft)).toEqual({ a: 'mine', c: 'c2', d: 'new', e: 'e2' })
    expect(await bench.texts('live')).toEqual({ a: 'theirs', b: 'b1', c: 'c2', e: 'e2' })
    expect(await bench.texts(bench.draft)).toEqual({ a: 'a1', b: 'b1', c: 'c1' })
  })

  it('orders by code point and filters by prefix', async () => {
    const bench = await newBench(workbench)
    for (const path of ['b', 'a/2', 'B', 'a/1', '\u{10400}', '\uff41', 'a_']) await bench.put(bench.draft, path, 'x')
    expect(Object.keys(await bench.texts(bench.draft))).toEqual(['B', 'a/1', 'a/2', 'a_', 'b', '\uff41', '\u{10400}'])
    const set = { id: bench.draft.id, projectId: bench.projectId, number: null }
    const found = await workbench.deps.stores.documents.list(workbench.caller.workspaceId, set, { prefix: 'a/' })
    expect(found.map((text) => text.path)).toEqual(['a/1', 'a/2'])
  })

  it('treats a deleted document as unknown while live still serves it', async () => {
    const bench = await published({ a: 'a1' })
    const draft = await bench.newDraft()
    const { documentUuid } = await bench.read('live', 'a')
    expect(await bench.remove(draft, 'a')).toEqual({ documentUuid, path: 'a' })
    await expect(bench.read(draft, 'a')).rejects.toEqual(failure('unknown-document', { path: 'a' }))
    await expect(bench.remove(draft, 'a')).rejects.toEqual(failure('unknown-document'))
    expect((await bench.read('live', 'a')).content).toBe('a1')
    const again = await bench.create(draft, 'a', 'back')
    expect(again).toMatchObject({ documentUuid, content: 'back', mergedAt: null })
  })

  const runs = count(8, 500)
  it('follows the overlay rule on every path after random changes', { timeout: timeFor(runs, 5_000) }, async () => {
    const step = fc.record({
      path: fc.constantFrom('a', 'b', 'c'),
      action: fc.constantFrom('put', 'remove', 'publishOther', 'force'),
      content: fc.constantFrom('1', '2', '3'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const bench = await published({ a: '1', b: '1' })
        const draft = await bench.newDraft()
        for (const { path, action, content } of steps) {
          if (action === 'put') await bench.put(draft, path, content)
          else if (action === 'force') await bench.put('live', path, content, { force: true })
          else if (action === 'remove') await bench.remove(draft, path).catch(() => {})
          else {
            const other = await bench.newDraft()
            await bench.put(other, path, content)
            await bench.publish(other)
          }
        }
        const { documents } = workbench.deps.stores
        const { workspaceId } = workbench.caller
        const slots = await documents.listSlots(workspaceId, draft, ['a', 'b', 'c'])
        const expected = slots.flatMap((slot) => shownIn(slot) ?? []).map(({ path, content }) => [path, content])
        expect(Object.entries(await bench.texts(draft))).toEqual(expected)
      }),
      { numRuns: runs },
    )
  })
})

describe('writing', () => {
  it('changes nothing if the text is equal', async () => {
    const bench = await published({ a: 'a1' })
    const draft = await bench.newDraft()
    const before = await bench.put(draft, 'a', 'a2')
    const after = await bench.put(draft, 'a', 'a2')
    expect(after).toEqual(before)
    await bench.put(draft, 'b', '')
    const untouched = await bench.newDraft()
    await bench.put(untouched, 'a', 'a1')
    expect((await bench.diff(untouched)).changes).toEqual([])
    expect((await bench.revert(untouched)).reverted).toEqual([])
  })

  it('updates the version and the project', async () => {
    const bench = await newBench(workbench)
    const { stores } = workbench.deps
    const { workspaceId } = workbench.caller
    await bench.put(bench.draft, 'a', '1')
    const first = await stores.versions.findOptional(workspaceId, bench.projectId, bench.draft.uuid)
    const project = await stores.projects.findOptional(workspaceId, bench.projectId)
    expect(first?.updatedAt.getTime()).toBeGreaterThan(bench.draft.updatedAt.getTime())
    expect(project?.lastEditedAt).toEqual(first?.updatedAt)
    await bench.put(bench.draft, 'a', '1')
    const second = await stores.versions.findOptional(workspaceId, bench.projectId, bench.draft.uuid)
    expect(second?.updatedAt).toEqual(first?.updatedAt)
  })

  it('gets or creates a document', async () => {
    const bench = await published({ a: 'a1' })
    const { deps, caller } = workbench
    const address = { caller, projectId: bench.projectId, versionRef: 'live', content: 'ignored' }
    expect((await getOrCreateDocument(deps, { ...address, path: 'a' })).content).toBe('a1')
    await expect(getOrCreateDocument(deps, { ...address, path: 'b' })).rejects.toEqual(failure('merged-version'))
    const draft = await bench.newDraft()
    const created = await getOrCreateDocument(deps, { ...address, versionRef: draft.uuid.toUpperCase(), path: 'b' })
    expect(created).toMatchObject({ content: 'ignored', versionUuid: draft.uuid })
  })

  it('checks the preconditions', async () => {
    const bench = await newBench(workbench)
    const { draft } = bench
    const { contentHash } = await bench.put(draft, 'a', '1', { ifNoneMatch: '*', baseHash: '' })
    await expect(bench.put(draft, 'a', '2', { ifNoneMatch: '*' })).rejects.toEqual(failure('if-none-match-failed'))
    await expect(bench.put(draft, 'a', '2', { ifMatch: '"other"' })).rejects.toEqual(failure('if-match-failed'))
    const conflicts = [{ path: 'a', expected: '', actual: contentHash }]
    await expect(bench.put(draft, 'a', '2', { baseHash: '' })).rejects.toEqual(failure('base-changed', { conflicts }))
    await bench.put(draft, 'a', '2', { ifMatch: `"${contentHash}"`, baseHash: contentHash })
    expect(await bench.texts(draft)).toEqual({ a: '2' })
  })
})

describe('repeated read', () => {
  it('sends no statement until something is written', async () => {
    const bench = await published({ a: 'see <prompt path="b" />', b: 'b1' })
    const draft = await bench.newDraft()
    for (const ref of ['live', draft, bench.draft] as const) {
      const first = await bench.read(ref, 'a')
      const before = workbench.statementCount()
      expect(await bench.read(ref, 'a')).toEqual(first)
      expect(workbench.statementCount()).toBe(before)
    }
    await bench.put(draft, 'b', 'b2')
    const before = workbench.statementCount()
    expect((await bench.read(draft, 'a')).resolvedContent).toContain('b2')
    expect(workbench.statementCount()).toBeGreaterThan(before)
  })
})

it('lists the last edited project first, and only projects visible to the key', async () => {
  const caller = await workbench.newCaller()
  const bench = { deps: workbench.deps, caller }
  const [first, second] = [await newBench(bench), await newBench(bench)]
  const ids = async (projectId: number | null) =>
    (await workbench.deps.stores.projects.list(caller.workspaceId, projectId)).map(({ id }) => id)
  expect(await ids(null)).toEqual([second.projectId, first.projectId])
  await first.put(first.draft, 'a', '1')
  expect(await ids(null)).toEqual([first.projectId, second.projectId])
  expect(await ids(second.projectId)).toEqual([second.projectId])
})

it('updates the given fields, clears them with an empty text, and shows the change immediately', async () => {
  const { deps, caller } = workbench
  const { projectId } = await newBench(workbench)
  await findProject(deps, caller, projectId)
  const named = { caller, projectId, name: 'renamed', defaultProvider: 'openai', defaultModel: 'm' }
  expect(await updateProject(deps, named)).toMatchObject({
    name: 'renamed',
    defaultProvider: 'openai',
    defaultModel: 'm',
  })
  expect(await updateProject(deps, { caller, projectId, defaultProvider: '' })).toMatchObject({
    defaultProvider: null,
    defaultModel: 'm',
  })
  expect(await findProject(deps, caller, projectId)).toMatchObject({ name: 'renamed', defaultProvider: null })
})

it('loads everything for a repeated run without a statement', async () => {
  const { deps, caller } = workbench
  const bench = await newBench(workbench)
  await bench.put(bench.draft, 'a', '<step><prompt path="b" /></step>')
  await bench.put(bench.draft, 'b', 'inner')
  await bench.publish(bench.draft)
  const address = { caller, projectId: bench.projectId, versionRef: 'live', path: '/a' }
  const first = await preparePrompt(deps, address)
  expect(first).toMatchObject({
    project: { id: bench.projectId, liveVersionUuid: bench.draft.uuid },
    version: { uuid: bench.draft.uuid, number: 1 },
    text: { path: 'a' },
    source: { path: 'a', documents: { b: 'inner' } },
    scan: { usesSteps: true, errors: [] },
  })
  const before = workbench.statementCount()
  expect(await preparePrompt(deps, address)).toEqual(first)
  await resolveVersion(deps, address)
  expect(workbench.statementCount()).toBe(before)
  await bench.put('live', 'b', 'hot fix', { force: true })
  expect((await preparePrompt(deps, address)).source.documents).toEqual({ b: 'hot fix' })
  expect(workbench.statementCount()).toBeGreaterThan(before)
})

it('lists prompts without resolved texts, and compiles only what it has not compiled before', async () => {
  const bench = await newBench(workbench)
  const faulty = '<prompt path="part" /><prompt path="gone" />{{ own }}'
  for (const [path, content] of Object.entries({ whole: 'Hi {{ n }}', faulty, part: '{{ a }}' })) {
    await bench.put(bench.draft, path, content)
  }
  const { deps, caller } = workbench
  const address = { caller, projectId: bench.projectId, versionRef: bench.draft.uuid }
  const scanned: string[] = []
  const scan: typeof deps.templates.scan = (source, owner) => {
    scanned.push(source.path)
    return deps.templates.scan(source, owner)
  }
  const counting = { ...deps, templates: { ...deps.templates, scan, known: createKnownTexts() } }
  const list = async () => {
    scanned.length = 0
    const unresolved = await all(listUnresolved(counting, address))
    const paths = [...new Set(scanned)].sort()
    const resolved = await all(listDocuments(deps, address))
    expect(unresolved).toEqual(resolved.map(({ resolvedContent: _resolved, ...rest }) => rest))
    return paths
  }
  expect(await list()).toEqual(['faulty', 'part', 'whole'])
  expect(await list()).toEqual([])
  await bench.put(bench.draft, 'part', '{{ b }}')
  expect(await list()).toEqual(['faulty', 'part'])
  await bench.put(bench.draft, 'gone', 'here')
  expect(await list()).toEqual(['faulty', 'gone'])
  await bench.remove(bench.draft, 'gone')
  expect(await list()).toEqual([])
})

it("does not refuse a prompt shared by two keys because of one key's limit", async () => {
  const bench = await newBench(workbench)
  // Long enough for the evaluation thread.
  await bench.put(bench.draft, 'a', `Hi {{ n + 1 }}${'x'.repeat(20_000)}`)
  const templates = await startEngine({ maxPerKey: 1, timeoutMs: 500 })
  const deps = { ...workbench.deps, templates }
  const first = { ...workbench.caller, apiKeyId: 1 }
  const held = new AbortController()
  const owner = { workspaceId: first.workspaceId, apiKeyId: 1, signal: held.signal }
  const evaluation = templates.checkAnswer(endlessAnswer, owner).catch(() => undefined)
  const address = { projectId: bench.projectId, versionRef: bench.draft.uuid, path: 'a' }
  const [refused, shared] = await Promise.allSettled([
    preparePrompt(deps, { ...address, caller: first }),
    preparePrompt(deps, { ...address, caller: { ...first, apiKeyId: 2 } }),
  ])
  expect(refused).toMatchObject({ reason: { code: 'ServiceUnavailableError' } })
  expect(shared).toMatchObject({ value: { scan: { parameters: ['n'], errors: [] } } })
  held.abort()
  await evaluation
  await templates.close()
})
