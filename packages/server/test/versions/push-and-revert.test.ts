import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rollBack } from '../../src/features/releases/roll-back.ts'
import { createVersion } from '../../src/features/versions/create-version.ts'
import { updateDraft } from '../../src/features/versions/drafts/change-draft.ts'
import { moveDocument } from '../../src/features/versions/push/move-document.ts'
import { count, report, seed, timeFor } from '../support/counts.ts'
import { seededRandom } from '../support/random.ts'
import { playHistory } from './release-model.ts'
import { type Bench, failure, newBench, openWorkbench, type Workbench } from './workbench.ts'

let workbench: Workbench

beforeAll(async () => {
  workbench = await openWorkbench()
})
afterAll(() => workbench.close())

async function published(texts: Record<string, string>): Promise<Bench> {
  const bench = await newBench(workbench)
  await bench.push(
    bench.draft,
    Object.entries(texts).map(([path, content]) => ({ path, status: 'added', content })),
  )
  await bench.publish(bench.draft)
  return bench
}

describe('push', () => {
  it('applies a list of changes and counts the actual differences', async () => {
    const bench = await published({ a: 'a1', b: 'b1', c: 'c1' })
    const draft = await bench.newDraft()
    const result = await bench.push(draft, [
      { path: '/a', status: 'modified', content: 'a2' },
      { path: 'b', status: 'deleted' },
      { path: 'c', status: 'modified', content: 'c1' },
      { path: 'd', status: 'modified', content: '' },
      { path: 'e', status: 'unchanged' },
      { path: 'f', status: 'deleted' },
    ])
    const { uuid } = draft
    expect(result).toEqual({
      versionUuid: uuid,
      documentsProcessed: 5,
      added: 1,
      modified: 1,
      deleted: 1,
    })
    expect(await bench.texts(draft)).toEqual({ a: 'a2', c: 'c1', d: '' })
  })

  it('does nothing for an empty list', async () => {
    const bench = await newBench(workbench)
    expect(await bench.push(bench.draft, [])).toMatchObject({ documentsProcessed: 0, added: 0 })
    const [version] = await workbench.deps.stores.versions.list(workbench.caller.workspaceId, bench.projectId)
    expect(version?.updatedAt).toEqual(bench.draft.updatedAt)
  })

  it('applies nothing if one change is refused', async () => {
    const bench = await published({ a: 'a1', b: 'b1' })
    const draft = await bench.newDraft()
    const good = { path: 'x', status: 'added', content: 'x' } as const
    const refused = (change: Parameters<Bench['push']>[1][number]) => bench.push(draft, [good, change])
    await expect(refused({ path: 'a b', status: 'added', content: '' })).rejects.toEqual(failure('invalid-path'))
    await expect(refused({ path: '//x', status: 'deleted' })).rejects.toEqual(failure('repeated-path'))
    await expect(refused({ path: 'y', status: 'added' })).rejects.toEqual(failure('invalid-body'))
    const { contentHash } = await bench.read(draft, 'a')
    const conflicts = [
      { path: 'a', expected: 'old', actual: contentHash },
      { path: 'z', expected: 'old', actual: null },
    ]
    const stale = [
      { path: 'a', status: 'modified', content: 'n', baseHash: 'old' },
      { path: 'b', status: 'deleted', baseHash: (await bench.read(draft, 'b')).contentHash },
      { path: 'z', status: 'deleted', baseHash: 'old' },
    ] as const
    await expect(bench.push(draft, [good, ...stale])).rejects.toEqual(failure('base-changed', { conflicts }))
    expect(await bench.texts(draft)).toEqual({ a: 'a1', b: 'b1' })
  })
})

describe('revert', () => {
  async function edited() {
    const bench = await published({ edited: '1', deleted: '1', untouched: '1' })
    const draft = await bench.newDraft()
    await bench.put(draft, 'edited', '2')
    await bench.remove(draft, 'deleted')
    await bench.put(draft, 'added', 'last')
    await bench.put(draft, 'gone', 'last')
    await bench.remove(draft, 'gone')
    return { bench, draft }
  }
  const actions = ({ reverted }: Awaited<ReturnType<Bench['revert']>>) =>
    Object.fromEntries(reverted.map(({ path, action }) => [path, action]))

  it('drops every change', async () => {
    const { bench, draft } = await edited()
    expect(actions(await bench.revert(draft))).toEqual({ added: 'removed', deleted: 'restored', edited: 'reset' })
    expect(await bench.texts(draft)).toEqual({ deleted: '1', edited: '1', untouched: '1' })
    expect((await bench.diff(draft)).changes).toEqual([])
    expect(workbench.audit).toContain('audit.revert')
  })

  it('drops changes by path and skips other paths', async () => {
    const { bench, draft } = await edited()
    expect(actions(await bench.revert(draft, ['/deleted', 'untouched', 'unknown']))).toEqual({ deleted: 'restored' })
    expect(await bench.texts(draft)).toEqual({ added: 'last', deleted: '1', edited: '2', untouched: '1' })
  })

  it('restores the last text of a document that only the draft had', async () => {
    const { bench, draft } = await edited()
    expect(actions(await bench.revert(draft, ['gone']))).toEqual({ gone: 'restored' })
    expect((await bench.read(draft, 'gone')).content).toBe('last')
    expect(actions(await bench.revert(draft, ['gone']))).toEqual({ gone: 'removed' })
    await expect(bench.read(draft, 'gone')).rejects.toEqual(failure('unknown-document'))
  })
})

describe('diff', () => {
  it('compares with live, the previous version, or a given one', async () => {
    const bench = await published({ a: '1', b: '1' })
    const second = await bench.newDraft()
    await bench.put(second, 'a', '2')
    await bench.remove(second, 'b')
    await bench.put(second, 'c', '2')
    const summary = async (...refs: Parameters<Bench['diff']>) => {
      const { base, head, changes } = await bench.diff(...refs)
      return {
        base,
        head,
        changes: changes.map(({ path, status, before, after }) => [path, status, before?.content, after?.content]),
      }
    }
    const changes = [
      ['a', 'modified', '1', '2'],
      ['b', 'deleted', '1', undefined],
      ['c', 'added', undefined, '2'],
    ]
    const expected = { base: bench.draft.uuid, head: second.uuid, changes }
    expect(await summary(second)).toEqual(expected)
    await bench.publish(second)
    expect(await summary(second)).toEqual(expected)
    expect(await summary('live', bench.draft)).toEqual(expected)
    expect((await summary('live', 'live')).changes).toEqual([])
    const first = [
      ['a', 'added', undefined, '1'],
      ['b', 'added', undefined, '1'],
    ]
    expect(await summary(bench.draft)).toEqual({ base: null, head: bench.draft.uuid, changes: first })
  })
})

describe('forced edit of a merged version', () => {
  /** Creates versions 1 to 3. `a` changes in each, `b` only in the first. */
  async function history() {
    const bench = await published({ a: '1', b: '1' })
    const versions = [bench.draft]
    for (const content of ['2', '3']) {
      const draft = await bench.newDraft()
      await bench.put(draft, 'a', content)
      await bench.publish(draft)
      versions.push(draft)
    }
    const all = async () => Promise.all(versions.map((version) => bench.texts(version)))
    return { bench, versions, all }
  }

  it('edits only that version', async () => {
    const { bench, versions, all } = await history()
    const [, second] = versions
    if (!second) throw new Error('no second version')
    const { documentUuid } = await bench.read(second, 'b')
    const edited = await bench.put(second, 'b', 'forced', { force: true })
    expect(edited).toMatchObject({ documentUuid, content: 'forced', versionId: second.id, versionUuid: second.uuid })
    await bench.put(second, 'a', 'forced', { force: true })
    await bench.put(second, 'new', 'forced', { force: true })
    expect(await all()).toEqual([
      { a: '1', b: '1' },
      { a: 'forced', b: 'forced', new: 'forced' },
      { a: '3', b: '1' },
    ])
    await bench.put(second, 'b', 'again', { force: true })
    expect(await all()).toEqual([
      { a: '1', b: '1' },
      { a: 'forced', b: 'again', new: 'forced' },
      { a: '3', b: '1' },
    ])
    expect(workbench.audit).toContain('audit.force-edit')
  })

  it('is visible in drafts and later versions if that version is live', async () => {
    const { bench, all } = await history()
    const draft = await bench.newDraft()
    const mine = await bench.newDraft()
    await bench.put(mine, 'b', 'mine')
    const before = await bench.read('live', 'b')
    const after = await bench.put('live', 'b', 'hot fix', { force: true })
    expect(after.updatedAt.getTime()).toBeGreaterThan(before.updatedAt.getTime())
    expect((await bench.read('live', 'b')).content).toBe('hot fix')
    expect(await bench.texts(draft)).toEqual({ a: '3', b: 'hot fix' })
    await bench.publish(draft)
    expect(await bench.texts('live')).toEqual({ a: '3', b: 'hot fix' })
    expect(await all()).toEqual([
      { a: '1', b: '1' },
      { a: '2', b: '1' },
      { a: '3', b: 'hot fix' },
    ])
    await expect(bench.publish(mine)).rejects.toEqual(failure('live-changed'))
  })
})

describe('releases', () => {
  const histories = count(6, 2_000)
  it('equal full copies after random histories', { timeout: timeFor(histories, 5_000) }, async () => {
    for (let history = 0; history < histories; history += 1) {
      const random = seededRandom(seed + history)
      await playHistory(await newBench(workbench), 14, random).catch((error: unknown) => {
        throw new Error(`seed ${seed + history}`, { cause: error })
      })
    }
    report('releases', { histories })
  })

  it('roll back many prompts with a constant number of statements', async () => {
    const statements: number[] = []
    for (const prompts of [1, 100]) {
      const texts = (content: string) =>
        Object.fromEntries(Array.from({ length: prompts }, (_, index) => [`p/${index}`, content]))
      const bench = await published(texts('1'))
      const draft = await bench.newDraft()
      await bench.push(
        draft,
        Object.entries(texts('2')).map(([path, content]) => ({ path, status: 'modified', content })),
      )
      await bench.publish(draft)
      await bench.put(bench.draft, 'p/0', 'forced', { force: true })
      const before = workbench.statementCount()
      // The text of the first version was edited since, so all texts become those of a new one.
      expect((await bench.rollBack()).release?.version.number).toBe(3)
      statements.push(workbench.statementCount() - before)
      expect(await bench.texts('live')).toEqual(texts('1'))
    }
    expect(statements[0]).toBe(statements[1])
    expect(statements[0]).toBeLessThanOrEqual(10)
  })
})

it('a move, a rename, a filled publication and a rollback each are one transaction, of which nothing remains if it fails', async () => {
  const { deps, caller } = workbench
  const bench = await published({ a: '1', b: '1' })
  const second = await bench.newDraft()
  await bench.put(second, 'a', '2')
  await bench.publish(second)
  await bench.put(bench.draft, 'a', 'forced', { force: true })
  const { projectId } = bench
  const draft = await bench.newDraft()
  let transactions = 0
  const failing: typeof deps = {
    ...deps,
    transaction(work) {
      transactions += 1
      return deps.transaction(async (stores) => {
        await work(stores)
        throw new Error('before the commit')
      })
    },
  }
  const operationsOn = (on: typeof deps): (() => Promise<unknown>)[] => {
    const at = { caller, projectId, versionRef: draft.uuid }
    const changes = [{ path: 'c', status: 'added' as const, content: '3' }]
    return [
      () => moveDocument(on, { ...at, from: 'a', to: 'moved' }),
      () => updateDraft(on, { ...at, name: 'renamed' }),
      () => createVersion(on, { caller, projectId, name: 'all at once', reuse: true, changes, publish: {} }),
      () => rollBack(on, { caller, projectId, environment: 'live' }),
    ]
  }
  const state = async () => ({
    versions: await deps.stores.versions.list(caller.workspaceId, projectId),
    releases: await bench.releases(),
    trees: [await bench.tree(draft), await bench.tree('live')],
  })
  const before = await state()
  for (const operation of operationsOn(failing)) {
    await expect(operation()).rejects.toThrow('before the commit')
    expect(await state()).toEqual(before)
  }
  expect(transactions).toBe(4)
  for (const operation of operationsOn(deps)) await operation()
  expect(await bench.texts('live')).toEqual({ a: '2', b: '1' })
  expect(await bench.texts(draft)).toEqual({ b: '1', moved: '2' })
})
