import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashContent } from '../../src/features/documents/check-document.ts'
import { createVersion } from '../../src/features/versions/create-version.ts'
import { publishVersion } from '../../src/features/versions/publish-version.ts'
import { type Bench, failure, newBench, openWorkbench, type Ref, type Workbench } from './workbench.ts'

let workbench: Workbench

beforeAll(async () => {
  workbench = await openWorkbench()
})
afterAll(() => workbench.close())

const hash = hashContent
const notDraft = failure('not-a-draft')
const conflicting = failure('live-changed')

/** Creates two drafts from the same live text and publishes the other one. `null` deletes the prompt. */
async function collision(theirs: string | null, mine: string | null = 'mine') {
  const bench = await newBench(workbench)
  await bench.put(bench.draft, 'a', 'base')
  await bench.publish(bench.draft)
  const [draft, other] = [await bench.newDraft(), await bench.newDraft()]
  await change(bench, draft, mine)
  await change(bench, other, theirs)
  await bench.publish(other)
  return { bench, draft }
}

const change = (bench: Bench, ref: Ref, content: string | null) =>
  content === null ? bench.remove(ref, 'a') : bench.put(ref, 'a', content)

const conflicts = async (bench: Bench, draft: Ref) =>
  (await bench.diff(draft)).changes.filter(({ conflict }) => conflict).map(({ path }) => path)

describe('numbering', () => {
  it('counts from 1 and changes the live version immediately', async () => {
    const bench = await newBench(workbench)
    await bench.put(bench.draft, 'a', '1')
    const first = await bench.publish(bench.draft, { title: '', description: 'notes' })
    expect(first).toMatchObject({ number: 1, isLive: true, title: 'Initial version', description: 'notes' })
    const draft = await bench.newDraft()
    expect(draft).toMatchObject({ number: null, parentVersionUuid: first.uuid, isLive: false, mergedAt: null })
    expect((await bench.publish(draft, { title: 'second' })).number).toBe(2)
    expect((await bench.read('live', 'a')).versionUuid).toBe(draft.uuid)
    expect(workbench.audit).toContain('audit.publish')
  })

  it('lists drafts first, then merged versions by descending number', async () => {
    const bench = await newBench(workbench)
    await bench.publish(bench.draft)
    const second = await bench.newDraft()
    await bench.publish(second)
    const [older, newer] = [await bench.newDraft(), await bench.newDraft()]
    const { deps, caller } = workbench
    const uuids = async (status?: 'draft' | 'merged') =>
      (await deps.stores.versions.list(caller.workspaceId, bench.projectId, { status })).map(({ uuid }) => uuid)
    expect(await uuids()).toEqual([newer.uuid, older.uuid, second.uuid, bench.draft.uuid])
    expect(await uuids('draft')).toEqual([newer.uuid, older.uuid])
    expect(await uuids('merged')).toEqual([second.uuid, bench.draft.uuid])
  })

  it('refuses everything but a draft with the same error', async () => {
    const bench = await newBench(workbench)
    const elsewhere = await newBench(workbench)
    await bench.publish(bench.draft)
    for (const ref of [
      bench.draft,
      'live',
      elsewhere.draft,
      { uuid: 'nonsense' },
      { uuid: crypto.randomUUID() },
    ] as const) {
      await expect(bench.publish(ref)).rejects.toEqual(notDraft)
    }
    await expect(elsewhere.publish('live')).rejects.toEqual(notDraft)
  })

  it('has one winner per draft, and assigns different numbers to two drafts', async () => {
    const bench = await newBench(workbench)
    const drafts = [bench.draft, await bench.newDraft()]
    const outcomes = await Promise.allSettled([...drafts, ...drafts, ...drafts].map((draft) => bench.publish(draft)))
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.number] : []))
    expect(won.sort()).toEqual([1, 2])
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toEqual(notDraft)
  })
})

describe('conflicts', () => {
  it('refuses to overwrite changes in live and lists them', async () => {
    const { bench, draft: mine } = await collision('theirs')
    const before = await bench.texts('live')
    const [live, ours] = [await bench.read('live', 'a'), await bench.read(mine, 'a')]
    const base = await bench.read(bench.draft, 'a')
    const { documentUuid } = live
    const conflict = {
      path: 'a',
      documentUuid,
      baseHash: base.contentHash,
      liveHash: live.contentHash,
      draftHash: ours.contentHash,
    }
    await expect(bench.publish(mine)).rejects.toEqual(
      failure('live-changed', {
        conflicts: [conflict],
      }),
    )
    expect((await bench.diff(mine)).changes).toMatchObject([{ path: 'a', conflict: true, status: 'modified' }])
    expect(await bench.texts('live')).toEqual(before)
  })

  it('is resolved by a revert and a repeated change', async () => {
    const { bench, draft: mine } = await collision('theirs')
    expect((await bench.revert(mine, ['a'])).reverted).toMatchObject([{ path: 'a', action: 'reset' }])
    expect(await bench.texts(mine)).toEqual({ a: 'theirs' })
    await bench.put(mine, 'a', 'merged by hand')
    expect((await bench.publish(mine)).number).toBe(3)
  })

  it("keeps live's document uuid if two drafts added the same path", async () => {
    const bench = await newBench(workbench)
    await bench.publish(bench.draft)
    const [mine, theirs] = [await bench.newDraft(), await bench.newDraft()]
    const ours = await bench.create(mine, 'a', 'mine')
    const { documentUuid } = await bench.create(theirs, 'a', 'theirs')
    expect(ours.documentUuid).not.toBe(documentUuid)
    await bench.publish(theirs)
    expect((await bench.read(mine, 'a')).documentUuid).toBe(ours.documentUuid)
    await bench.publish(mine, { force: true })
    expect(await bench.read('live', 'a')).toMatchObject({ content: 'mine', documentUuid })
  })

  it('detects deletions on either side', async () => {
    const bench = await newBench(workbench)
    for (const path of ['a', 'b', 'c']) await bench.put(bench.draft, path, path)
    await bench.publish(bench.draft)
    const [mine, theirs] = [await bench.newDraft(), await bench.newDraft()]
    await bench.remove(mine, 'a')
    await bench.put(mine, 'b', 'mine')
    await bench.remove(mine, 'c')
    await bench.put(theirs, 'a', 'theirs')
    await bench.remove(theirs, 'b')
    await bench.remove(theirs, 'c')
    await bench.publish(theirs)
    const paths = (await bench.diff(mine)).changes.map(({ path, status, conflict }) => [path, status, conflict])
    expect(paths).toEqual([
      ['a', 'deleted', true],
      ['b', 'added', true],
    ])
    await expect(bench.publish(mine)).rejects.toEqual(failure('live-changed'))
    await bench.publish(mine, { force: true })
    expect(await bench.texts('live')).toEqual({ b: 'mine' })
    expect(await bench.texts(theirs)).toEqual({ a: 'theirs' })
    expect(await bench.texts(bench.draft)).toEqual({ a: 'a', b: 'b', c: 'c' })
  })
})

describe('the checks before a publication', () => {
  const states = async (bench: Bench, draft: Ref, block?: 'configuration') => {
    const { verdict, checks } = await bench.checks(draft, block)
    return [verdict, ...checks.map(({ name, state }) => `${name} ${state}`)]
  }

  it('name what publishing refuses, and write nothing', async () => {
    const bench = await newBench(workbench)
    await bench.put(bench.draft, 'a', 'base')
    await bench.put(bench.draft, 'part', 'A part')
    await bench.put(bench.draft, 'whole', '<prompt path="part" />')
    expect(await bench.checks(bench.draft)).toMatchObject({ base: null, wouldNumber: 1, verdict: 'pass' })
    const first = await bench.publish(bench.draft)
    const [mine, theirs] = [await bench.newDraft(), await bench.newDraft()]
    await bench.put(mine, 'a', '---\nmaxSteps: many\n---\nmine')
    await bench.put(theirs, 'a', 'theirs')
    await bench.publish(theirs)
    await bench.put(mine, 'broken', 'Hello {{ if }}')
    await bench.put(mine, 'part', 'fine\n{{ if }}')
    const before = await bench.diff(mine)
    const found = await bench.checks(mine)
    expect(found).toMatchObject({ base: theirs.uuid, wouldNumber: 3, verdict: 'blocked' })
    const { documentUuid, contentHash: liveHash } = await bench.read('live', 'a')
    const { contentHash: draftHash } = await bench.read(mine, 'a')
    const conflict = { path: 'a', documentUuid, baseHash: hash('base'), liveHash, draftHash }
    expect(found.conflicts).toEqual([conflict])
    await expect(bench.publish(mine)).rejects.toEqual(failure('live-changed', { conflicts: [conflict] }))
    const [, compile, configuration] = found.checks
    expect(compile?.findings.map(({ path, in: at, line }) => [path, at, line])).toEqual([
      ['broken', undefined, 1],
      ['part', undefined, 2],
      // It is unchanged, but it includes a prompt that the draft breaks.
      ['whole', 'part', 2],
    ])
    const refused = await bench.publish(mine, { force: true }).catch((error) => error.details.documents)
    expect(refused.map(({ path }: { path: string }) => path)).toEqual(['broken', 'part', 'whole'])
    expect(configuration?.findings).toMatchObject([{ code: 'invalid-setting', level: 'break', path: 'a', line: 2 }])
    expect(await bench.diff(mine)).toEqual(before)
    expect(await bench.texts(first)).toMatchObject({ a: 'base' })
  })

  it('block because of settings only if the caller will', async () => {
    const bench = await newBench(workbench)
    await bench.put(bench.draft, 'a', '---\nmaxSteps: many\n---\nHi')
    expect(await states(bench, bench.draft)).toEqual([
      'pass',
      'conflict pass',
      'compile pass',
      'configuration noted',
      'gate pass',
    ])
    expect(await states(bench, bench.draft, 'configuration')).toEqual([
      'blocked',
      'conflict pass',
      'compile pass',
      'configuration blocked',
      'gate pass',
    ])
    await expect(bench.publish(bench.draft, { block: ['configuration'] })).rejects.toEqual(failure('release-refused'))
  })

  it('are for drafts', async () => {
    const bench = await newBench(workbench)
    await bench.publish(bench.draft)
    await expect(bench.checks('live')).rejects.toEqual(notDraft)
    await expect(bench.checks({ uuid: crypto.randomUUID() })).rejects.toEqual(failure('unknown-version'))
  })
})

describe('compilation', () => {
  const broken = 'Hello {{ if }}'

  it('refuses a changed document that does not compile, with or without force', async () => {
    const bench = await newBench(workbench)
    const { documentUuid } = await bench.put(bench.draft, 'a', broken)
    await bench.put(bench.draft, 'b', 'fine')
    const refused = bench.publish(bench.draft, { force: true })
    await expect(refused).rejects.toEqual(failure('draft-does-not-compile'))
    await expect(refused).rejects.toMatchObject({
      details: { documents: [{ path: 'a', documentUuid, errors: [{ line: 1 }] }] },
    })
    expect((await bench.read(bench.draft, 'a')).errors).not.toEqual([])
    await bench.put(bench.draft, 'a', 'whole')
    expect((await bench.publish(bench.draft)).number).toBe(1)
  })

  it('refuses settings that a run would refuse only if the caller blocks them', async () => {
    const bench = await newBench(workbench)
    await bench.put(bench.draft, 'a', '---\nmaxSteps: many\ntemprature: 1\n---\nHi')
    const refused = bench.publish(bench.draft, { block: ['configuration'] })
    await expect(refused).rejects.toEqual(failure('release-refused'))
    const finding = { check: 'configuration', code: 'invalid-setting', level: 'break', path: 'a', line: 2, column: 1 }
    await expect(refused).rejects.toMatchObject({
      details: { checks: [{ name: 'configuration', state: 'blocked', findings: [finding] }] },
    })
    expect((await bench.publish(bench.draft)).number).toBe(1)
  })

  it('blocks no draft because of settings that are live already', async () => {
    const bench = await newBench(workbench)
    await bench.put(bench.draft, 'part', 'Hi')
    await bench.put(bench.draft, 'whole', '---\nmaxSteps: many\n---\n<prompt path="part" />')
    await bench.publish(bench.draft)
    const draft = await bench.newDraft()
    await bench.put(draft, 'part', 'Hello')
    expect((await bench.publish(draft, { block: ['configuration'] })).number).toBe(2)
  })

  it('refuses to delete a document with direct or indirect references', async () => {
    const bench = await newBench(workbench)
    await bench.put(bench.draft, 'top', '<prompt path="middle" />')
    await bench.put(bench.draft, 'middle', '<prompt path="leaf" />')
    await bench.put(bench.draft, 'leaf', 'leaf')
    await bench.publish(bench.draft)
    const draft = await bench.newDraft()
    await bench.remove(draft, 'leaf')
    const refused = bench.publish(draft)
    await expect(refused).rejects.toEqual(failure('draft-does-not-compile'))
    await expect(refused).rejects.toMatchObject({ details: { documents: [{ path: 'middle' }, { path: 'top' }] } })
  })

  it('ignores unchanged documents', async () => {
    const bench = await newBench(workbench)
    await bench.publish(bench.draft)
    await bench.put('live', 'old', broken, { force: true })
    const draft = await bench.newDraft()
    await bench.put(draft, 'a', 'fine')
    expect((await bench.publish(draft)).number).toBe(2)
    expect(await bench.texts('live')).toEqual({ a: 'fine', old: broken })
  })

  it('compiles again if the draft changed meanwhile', async () => {
    const bench = await newBench(workbench)
    await bench.put(bench.draft, 'a', 'fine')
    // The delayed scan makes the edit happen between the first check and the publication.
    let edit: Promise<unknown> | undefined
    const scan: typeof workbench.deps.templates.scan = async (source, owner) => {
      edit ??= bench.put(bench.draft, 'a', broken)
      await edit
      return workbench.deps.templates.scan(source, owner)
    }
    const { deps, caller } = workbench
    const raced = { ...deps, templates: { ...deps.templates, scan } }
    const address = { caller, projectId: bench.projectId, versionRef: bench.draft.uuid }
    await expect(publishVersion(raced, { ...address, force: false })).rejects.toEqual(failure('draft-does-not-compile'))
    expect(edit).toBeDefined()
  })

  it('compiles the texts of a new draft, which no row held, with what live is at its publication', async () => {
    const bench = await newBench(workbench)
    await bench.put(bench.draft, 'part', 'fine')
    await bench.publish(bench.draft)
    const { deps, caller } = workbench
    const next = await bench.newDraft()
    await bench.remove(next, 'part')
    // The first transaction is that of the publication: the reference disappears after it was compiled.
    let removal: Promise<unknown> | undefined
    const transaction: typeof deps.transaction = async (work) => {
      removal ??= bench.publish(next)
      await removal
      return deps.transaction(work)
    }
    const changes = [{ path: 'a', status: 'added' as const, content: '<prompt path="part" />' }]
    const before = await deps.stores.versions.list(caller.workspaceId, bench.projectId)
    const input = { caller, projectId: bench.projectId, name: 'both', changes, publish: {} }
    await expect(createVersion({ ...deps, transaction }, input)).rejects.toEqual(failure('draft-does-not-compile'))
    expect(await deps.stores.versions.list(caller.workspaceId, bench.projectId)).toHaveLength(before.length)
    expect(await bench.texts('live')).toEqual({})
  })
})

describe('text merged with live', () => {
  it('resolves the conflict by push, and publishes without force', async () => {
    const { bench, draft } = await collision('theirs')
    expect(await conflicts(bench, draft)).toEqual(['a'])
    const merged = { path: 'a', status: 'modified', content: 'mine and theirs' } as const
    const result = await bench.push(draft, [{ ...merged, baseHash: hash('mine'), liveHash: hash('theirs') }])
    expect(result.modified).toBe(1)
    expect(await conflicts(bench, draft)).toEqual([])
    expect((await bench.publish(draft)).number).toBe(3)
    expect(await bench.texts('live')).toEqual({ a: 'mine and theirs' })
  })

  it('conflicts again when live changes again', async () => {
    const { bench, draft } = await collision('theirs')
    await bench.put(draft, 'a', 'merged', { liveHash: hash('theirs') })
    await bench.put('live', 'a', 'later', { force: true })
    await expect(bench.publish(draft)).rejects.toEqual(conflicting)
    await expect(bench.publish(draft)).rejects.toMatchObject({
      details: { conflicts: [{ baseHash: hash('theirs'), liveHash: hash('later') }] },
    })
  })

  it('is refused if live has changed meanwhile, and nothing is written', async () => {
    const { bench, draft } = await collision('theirs')
    const stale = { path: 'a', status: 'modified', content: 'merged', liveHash: hash('older') } as const
    const conflict = { path: 'a', expected: hash('older'), actual: hash('theirs') }
    const refused = failure('live-text-changed', { conflicts: [conflict] })
    const added = { path: 'b', status: 'added', content: 'b' } as const
    await expect(bench.push(draft, [added, stale])).rejects.toEqual(refused)
    await expect(bench.put(draft, 'a', 'merged', { liveHash: hash('older') })).rejects.toEqual(refused)
    expect(await bench.texts(draft)).toEqual({ a: 'mine' })
    expect(await conflicts(bench, draft)).toEqual(['a'])
  })

  it('changes nothing for a path that is unchanged in live', async () => {
    const bench = await newBench(workbench)
    await bench.put(bench.draft, 'a', 'base')
    await bench.publish(bench.draft)
    const draft = await bench.newDraft()
    await bench.put(draft, 'a', 'mine', { liveHash: hash('base') })
    await bench.put(draft, 'b', 'new', { liveHash: '' })
    expect(await bench.texts(draft)).toEqual({ a: 'mine', b: 'new' })
    expect((await bench.publish(draft)).number).toBe(2)
  })
})

describe('deletions', () => {
  it('keeps an edit over a deletion in live with an empty liveHash', async () => {
    const { bench, draft } = await collision(null)
    await expect(bench.publish(draft)).rejects.toEqual(conflicting)
    await expect(bench.put(draft, 'a', 'kept', { liveHash: hash('base') })).rejects.toEqual(
      failure('live-text-changed', { conflicts: [{ path: 'a', expected: hash('base'), actual: null }] }),
    )
    await bench.put(draft, 'a', 'kept', { liveHash: '' })
    await bench.publish(draft)
    expect(await bench.texts('live')).toEqual({ a: 'kept' })
  })

  it('keeps a deletion over an edit in live if it is repeated with liveHash', async () => {
    const { bench, draft } = await collision('theirs', null)
    await expect(bench.publish(draft)).rejects.toEqual(conflicting)
    const again = { path: 'a', status: 'deleted', liveHash: hash('theirs') } as const
    expect(await bench.push(draft, [again])).toMatchObject({ deleted: 0 })
    expect(await conflicts(bench, draft)).toEqual([])
    await bench.publish(draft)
    expect(await bench.texts('live')).toEqual({})
  })

  it('sets live as the base if an edit becomes a deletion', async () => {
    const { bench, draft } = await collision('theirs')
    const deleted = { path: 'a', status: 'deleted', liveHash: hash('theirs') } as const
    expect(await bench.push(draft, [deleted])).toMatchObject({ deleted: 1 })
    await bench.publish(draft)
    expect(await bench.texts('live')).toEqual({})
  })

  it('needs no resolution if both deleted the document, and a revert restores nothing', async () => {
    const { bench, draft } = await collision(null, null)
    await bench.push(draft, [{ path: 'a', status: 'deleted', liveHash: '' }])
    expect((await bench.revert(draft, ['a'])).reverted).toEqual([])
    expect(await bench.texts(draft)).toEqual({})
  })
})
