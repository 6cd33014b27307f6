import { describe, expect, it } from 'vitest'
import { deleteText, editMerged, isChange, isConflict, openEnd, shownIn, writeText } from './overlay.ts'
import type { DraftRow, MergedText, Slot } from './ports.ts'

const then = new Date('2026-01-01T00:00:00Z')
const now = new Date('2026-02-02T00:00:00Z')
const ada = { id: 1, name: 'Ada', email: 'ada@example.com' }
const leo = { id: 2, name: 'Leo', email: 'leo@example.com' }

function text(content: string, uuid = 'u-live') {
  const dates = { mergedAt: null, createdAt: then, updatedAt: then, updatedBy: ada, movedFrom: null }
  return {
    id: 1,
    documentUuid: uuid,
    projectId: 1,
    versionId: 1,
    path: 'a',
    content,
    contentHash: `#${content}`,
    ...dates,
  }
}

const draftRow = (content: string, base: string | null, deletedAt: Date | null = null): DraftRow => ({
  ...text(content, 'u-draft'),
  baseHash: base === null ? null : `#${base}`,
  deletedAt,
})

function slot(draft: DraftRow | null, live: string | null): Slot {
  return { path: 'a', draft, live: live === null ? null : text(live), movedTo: null }
}

const wrote = (content: string) => ({
  path: 'a',
  content,
  contentHash: `#${content}`,
  documentUuid: 'u-new',
  at: now,
  by: leo,
})

describe('visible text of a draft', () => {
  it.each([
    ['no text', slot(null, null), null, false, false],
    ['only live', slot(null, 'L'), 'L', false, false],
    ['an edit', slot(draftRow('D', 'L'), 'L'), 'D', true, false],
    ['an addition', slot(draftRow('D', null), null), 'D', true, false],
    ['a deletion', slot(draftRow('L', 'L', now), 'L'), null, true, false],
    ['an edit back to live', slot(draftRow('L', 'L'), 'L'), 'L', false, false],
    ['an edit, live has another edit', slot(draftRow('D', 'L'), 'M'), 'D', true, true],
    ['an edit, live has the same edit', slot(draftRow('D', 'L'), 'D'), 'D', false, false],
    ['an edit, live deleted it', slot(draftRow('D', 'L'), null), 'D', true, true],
    ['a deletion, live has an edit', slot(draftRow('L', 'L', now), 'M'), null, true, true],
    ['a deletion, live deleted it too', slot(draftRow('L', 'L', now), null), null, false, false],
    ['an addition, live has another addition', slot(draftRow('D', null), 'M'), 'D', true, true],
    ['a deleted addition', slot(draftRow('D', null, now), null), null, false, false],
    ['a deleted addition, live has an addition', slot(draftRow('D', null, now), 'M'), null, true, true],
  ])('%s', (_name, given, shown, changed, conflicting) => {
    expect(shownIn(given)?.content ?? null).toBe(shown)
    expect(isChange(given)).toBe(changed)
    expect(isConflict(given)).toBe(conflicting)
  })
})

describe('writeText', () => {
  it('writes nothing if the text is already visible', () => {
    expect(writeText(slot(null, 'L'), wrote('L'))).toBeNull()
    expect(writeText(slot(draftRow('D', 'L'), 'M'), wrote('D'))).toBeNull()
  })
  it('sets the base and document uuid from live on the first change', () => {
    expect(writeText(slot(null, 'L'), wrote('D'))).toMatchObject({
      baseHash: '#L',
      documentUuid: 'u-live',
      createdAt: then,
      updatedAt: now,
      updatedBy: leo,
    })
    expect(writeText(slot(null, null), wrote('D'))).toMatchObject({
      baseHash: null,
      documentUuid: 'u-new',
      createdAt: now,
    })
  })
  it('keeps the base on later changes', () => {
    expect(writeText(slot(draftRow('D', 'L'), 'M'), wrote('E'))).toMatchObject({
      baseHash: '#L',
      documentUuid: 'u-draft',
    })
  })
  it('sets the live text as the base after a merge, even if the draft text is unchanged', () => {
    const collided = slot(draftRow('D', 'L'), 'M')
    expect(writeText(collided, wrote('E'), true)).toMatchObject({ baseHash: '#M', content: 'E', updatedAt: now })
    expect(writeText(collided, wrote('D'), true)).toMatchObject({
      baseHash: '#M',
      content: 'D',
      updatedAt: then,
      updatedBy: ada,
    })
    expect(writeText(slot(draftRow('D', 'L'), 'L'), wrote('D'), true)).toBeNull()
    expect(writeText(slot(draftRow('D', 'L'), null), wrote('D'), true)).toMatchObject({ baseHash: null })
    expect(writeText(slot(null, 'L'), wrote('L'), true)).toBeNull()
  })
  it('restores the uuid of a deleted document', () => {
    const restored = writeText(slot(draftRow('D', null, then), null), wrote('D'))
    expect(restored).toMatchObject({ documentUuid: 'u-draft', deletedAt: null, content: 'D' })
  })
})

describe('deleteText', () => {
  it('keeps the last text and marks it as deleted', () => {
    expect(deleteText(slot(null, 'L'), { at: now, by: leo })).toMatchObject({
      content: 'L',
      baseHash: '#L',
      deletedAt: now,
      updatedBy: leo,
    })
    expect(deleteText(slot(draftRow('D', 'L'), 'L'), { at: now, by: leo })).toMatchObject({
      content: 'D',
      baseHash: '#L',
      documentUuid: 'u-draft',
    })
  })
  it('sets live as the base if the caller merged with that text', () => {
    expect(deleteText(slot(draftRow('D', 'L'), 'M'), { at: now, by: leo }, true)).toMatchObject({
      baseHash: '#M',
      deletedAt: now,
    })
    const again = deleteText(slot(draftRow('D', 'L', then), 'M'), { at: now, by: leo }, true)
    expect(again).toMatchObject({ baseHash: '#M', deletedAt: then })
    expect(deleteText(slot(draftRow('D', 'L', then), null), { at: now, by: leo }, true)).toBeNull()
  })
  it('returns null if no document is visible', () =>
    expect(deleteText(slot(draftRow('D', 'L', then), 'L'), { at: now, by: leo })).toBeNull())
})

describe('editMerged', () => {
  const row = (from: number, to: number): MergedText => {
    const { updatedBy, ...old } = text('old')
    return { ...old, authorId: updatedBy.id, id: 7, validFrom: from, validTo: to }
  }
  const spans = (from: number, to: number, number: number, isHead: boolean) => {
    const { old, pieces } = editMerged(row(from, to), { id: 9, number, isHead }, wrote('new'))
    for (const { content, authorId } of pieces) expect(authorId).toBe(content === 'new' ? leo.id : ada.id)
    return { end: old?.end, pieces: pieces.map((piece) => [piece.content, piece.validFrom, piece.validTo]) }
  }
  it.each([
    ['the highest number', 2, openEnd, 5, true, 5, [['new', 5, openEnd]]],
    ['the highest number, which introduced the text', 5, openEnd, 5, true, null, [['new', 5, openEnd]]],
    [
      'a version in the middle',
      2,
      8,
      5,
      false,
      5,
      [
        ['new', 5, 6],
        ['old', 6, 8],
      ],
    ],
    [
      'the first version with a text',
      5,
      8,
      5,
      false,
      null,
      [
        ['new', 5, 6],
        ['old', 6, 8],
      ],
    ],
    ['the last version with a text', 2, 6, 5, false, 5, [['new', 5, 6]]],
    ['the only version with a text', 5, 6, 5, false, null, [['new', 5, 6]]],
  ])('splits the range of %s', (_name, from, to, number, isHead, end, pieces) => {
    expect(spans(from, to, number, isHead)).toEqual({ end, pieces })
  })
  it('adds a new text to one version only', () => {
    const added = editMerged(null, { id: 9, number: 3, isHead: false }, wrote('new'))
    expect(added).toMatchObject({
      old: null,
      pieces: [{ validFrom: 3, validTo: 4, documentUuid: 'u-new', versionId: 9 }],
    })
  })
})
