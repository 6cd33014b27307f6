import { expect, test } from 'vitest'
import type { ArchivedVersion } from '../src/commands/projects/archive/archive-lines.ts'
import { checkHistory } from '../src/commands/projects/archive/check-history.ts'
import { type ProjectArchive, sha256 } from '../src/commands/projects/archive/project-archive.ts'

const contents = ['one', 'two']
const [one = '', two = ''] = contents.map(sha256)
const author = { name: 'Ana', email: 'ana@example.com' }
const time = '2026-11-29T00:00:00.000Z'

function version(number: number, changes: ArchivedVersion['changes']): ArchivedVersion {
  const uuid = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
  const written = { author, createdAt: time, mergedAt: time }
  return { uuid, number, title: '', description: null, parent: number === 1 ? null : number - 1, ...written, changes }
}

function archiveOf(versions: ArchivedVersion[]): ProjectArchive {
  const project = { name: 'Support', defaultProvider: null, defaultModel: null, retentionDays: null }
  const texts = new Map(contents.map((content) => [sha256(content), content]))
  return { project, live: versions.length, versions, evaluations: [], examples: [], texts }
}

// A copy of all prompts for each version would be 1,600,000,000 entries.
test('many versions of many prompts are checked in linear time', () => {
  const all = Array.from({ length: 40_000 }, (_, index) => {
    return { path: `p/${index}`, status: 'added' as const, hash: one, conflict: false }
  })
  const later = Array.from({ length: 40_000 }, (_, index) =>
    version(index + 2, [{ path: 'p/0', status: 'modified', hash: index % 2 === 0 ? two : one, conflict: false }]),
  )
  expect(() => checkHistory(archiveOf([version(1, all), ...later]))).not.toThrow()
})
