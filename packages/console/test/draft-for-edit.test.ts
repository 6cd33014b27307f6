import type { Version } from '@stet/sdk'
import { expect, test } from 'vitest'
import { chooseDraft } from '../src/app/frame/switches/draft-for-edit.ts'

const ana = { id: 1, name: 'Ana' }
const now = new Date('2026-11-23T12:00:00.000Z')

test('the newest own draft of the last 7 days is chosen', () => {
  const versions = [
    version({ title: 'two days', createdAt: '2026-11-21T12:00:00.000Z' }),
    version({ title: 'yesterday', createdAt: '2026-11-22T12:00:00.000Z' }),
    version({ title: 'six days', createdAt: '2026-11-17T12:00:00.000Z' }),
  ]
  expect(chooseDraft(versions, ana, now).existing?.title).toBe('yesterday')
})

test('if two drafts are from the same moment, the one created last is chosen', () => {
  const versions = [version({ id: 4, title: 'first' }), version({ id: 5, title: 'second' })]
  expect(chooseDraft(versions, ana, now).existing?.title).toBe('second')
})

test.each([
  ['a draft of another author', { authorId: 2 }],
  ['a published version', { status: 'merged' as const }],
  ['a draft of exactly 7 days ago', { createdAt: '2026-11-16T12:00:00.000Z' }],
  ['a deleted draft', { deletedAt: '2026-11-23T11:00:00.000Z' }],
])('%s is not chosen', (_, other) => {
  expect(chooseDraft([version(other)], ana, now).existing).toBe(null)
})

test('a draft one millisecond younger than 7 days is chosen', () => {
  expect(chooseDraft([version({ createdAt: '2026-11-16T12:00:00.001Z' })], ana, now).existing).not.toBe(null)
})

test('a new draft is named after the author and the day', () => {
  expect(chooseDraft([], ana, now)).toEqual({ existing: null, name: 'Ana · 23 Nov' })
})

/** A draft of Ana, with the fields that the rule reads. */
function version(fields: Partial<Version>): Version {
  const draft: Partial<Version> = {
    id: 3,
    uuid: '00000000-0000-4000-8000-000000000003',
    title: '',
    authorId: ana.id,
    status: 'draft',
    deletedAt: null,
    createdAt: '2026-11-23T11:00:00.000Z',
  }
  return { ...draft, ...fields } as Version
}
