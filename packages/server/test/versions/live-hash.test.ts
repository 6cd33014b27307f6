import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashContent } from '../../src/features/documents/check-document.ts'
import { type Bench, failure, newBench, openWorkbench, type Ref, type Workbench } from './workbench.ts'

let workbench: Workbench

beforeAll(async () => {
  workbench = await openWorkbench()
})
afterAll(() => workbench.close())

const hash = hashContent
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

  it('is only allowed in a draft: a forced edit refuses it', async () => {
    const { bench } = await collision('theirs')
    const edit = bench.put('live', 'a', 'x', { force: true, liveHash: hash('theirs') })
    await expect(edit).rejects.toEqual(failure('live-hash-of-merged'))
    expect(await bench.texts('live')).toEqual({ a: 'theirs' })
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
