import type { Release, Version } from '@stet/sdk'
import { expect, test } from 'vitest'
import { type HistoryRow, historyRows, type LoadedReleases } from './history-rows.ts'

const timeOf = (minute: number) => new Date(Date.UTC(2026, 10, 28, 12, minute)).toISOString()

/** A version that was published in this minute. */
function version(number: number, minute: number, fields: Partial<Version> = {}): Version {
  const uuid = `version-${number}`
  const shown: Partial<Version> = { uuid, version: number, mergedAt: timeOf(minute), isLive: false, revision: 0 }
  return { ...shown, forcedEdits: [], baseVersionUuid: null, baseRevision: null, ...fields } as Version
}

const edited = (...minutes: number[]): Pick<Version, 'revision' | 'forcedEdits'> => ({
  revision: minutes.length,
  forcedEdits: minutes.map((minute, at) => ({
    revision: at + 1,
    path: 'a',
    author: { id: 1, name: 'Ana', email: '' },
    oldHash: 'old',
    newHash: 'new',
    createdAt: timeOf(minute),
  })),
})

const release = (kind: Release['kind'], minute: number, number: number, revision = 0): Release =>
  ({
    uuid: `release-${minute}`,
    kind,
    version: { uuid: `version-${number}`, number, revision, title: '' },
    createdAt: timeOf(minute),
  }) as Release

const all = (...items: Release[]): LoadedReleases => ({ items, isComplete: true })
const nameIn = (row: HistoryRow) => (row.kind === 'rollback' ? `to ${row.name}` : row.name)
const rowNamed = (rows: readonly HistoryRow[], name: string) => rows.find((row) => nameIn(row) === name)

test('after a rollback, the version that live serves is marked, not the highest number', () => {
  const rows = historyRows(
    [version(3, 3), version(2, 2, { isLive: true }), version(1, 1)],
    all(release('rollback', 4, 2)),
  )
  expect(rows.map(nameIn)).toEqual(['to v2', 'v3', 'v2', 'v1'])
  expect(rows.filter((row) => row.kind !== 'rollback' && row.isLive).map(nameIn)).toEqual(['v2'])
})

test('revisions follow their version, and each is compared with the state before it', () => {
  const rows = historyRows(
    [version(2, 2, { isLive: true, ...edited(3, 4), baseVersionUuid: 'version-1', baseRevision: 1 }), version(1, 1)],
    all(release('edit', 4, 2, 2), release('edit', 3, 2, 1)),
  )
  expect(rows.map(nameIn)).toEqual(['v2', 'v2.2', 'v2.1', 'v1'])
  expect(rows.slice(0, 3)).toMatchObject([
    { entry: 'version-2', texts: 'version-2@0', base: { texts: 'version-1@1', name: 'v1.1' }, isLive: false },
    { entry: 'version-2@2', texts: 'version-2@2', base: { texts: 'version-2@1', name: 'v2.1' }, isLive: true },
    { entry: 'version-2@1', texts: 'version-2@1', base: { texts: 'version-2@0', name: 'v2' }, isLive: false },
  ])
  expect(rows[3]).toMatchObject({ base: null })
})

test('each rollback precedes the versions that were published before it', () => {
  const rows = historyRows(
    [version(3, 5), version(2, 2), version(1, 1)],
    all(release('rollback', 6, 1), release('publish', 5, 3), release('rollback', 4, 2), release('rollback', 3, 1)),
  )
  expect(rows.map(nameIn)).toEqual(['to v1', 'v3', 'to v2', 'to v1', 'v2', 'v1'])
})

test('a rollback that made a new version names what it returned to', () => {
  const copy = version(2, 3, { isLive: true, baseVersionUuid: 'version-1', baseRevision: 1 })
  const rows = historyRows([copy, version(1, 1, edited(2, 2))], all(release('rollback', 3, 2)))
  expect(rows.map(nameIn)).toEqual(['to v1.1', 'v2', 'v1', 'v1.2', 'v1.1'])
  expect(rows[0]).toMatchObject({ entry: 'version-2' })
})

test('live has served a revision if a release has it, or if releases that old are not loaded', () => {
  const versions = [version(2, 6, { isLive: true }), version(1, 1, edited(2, 7))]
  const releases = [release('publish', 6, 2), release('edit', 2, 1, 1)]
  const servedIn = (loaded: LoadedReleases) =>
    ['v1', 'v1.1', 'v1.2'].map(
      (name) => (rowNamed(historyRows(versions, loaded), name) as { wasServed: boolean }).wasServed,
    )
  expect(servedIn(all(...releases))).toEqual([true, true, false])
  expect(servedIn({ items: releases.slice(0, 1), isComplete: false })).toEqual([true, true, false])
})
