import { isPromptPath } from '../../../sync/prompt-path.ts'
import { Refused } from './archive-limits.ts'
import type { ArchivedVersion } from './archive-lines.ts'
import { applyChanges, isDraft, liveOf, type ProjectArchive } from './project-archive.ts'

/** Checks that the versions follow one another and use exactly the texts of the archive. @throws Refused */
export function checkHistory(archive: ProjectArchive): void {
  const { versions, evaluations, texts } = archive
  const uuids = new Set<string>()
  const paths = new Set<string>()
  const used = new Set<string>()
  // One map for all versions: a copy for each would let a small archive take hours.
  const state = new Map<string, string>()
  const published = versions.filter((version) => !isDraft(version)).length
  if (archive.live > published || (archive.live === 0 && published > 0))
    throw new Refused(`it has no version ${archive.live}`)
  const live = liveOf(archive)
  let last = 0
  for (const version of versions) {
    if (uuids.has(version.uuid)) throw new Refused(`two versions have the uuid ${version.uuid}`)
    uuids.add(version.uuid)
    checkChanges(version, isDraft(version) ? live : state)
    for (const { path, hash } of [...version.changes, ...(version.revisions ?? [])]) {
      paths.add(path)
      if (hash !== null) used.add(hash)
    }
    if (version.number === null) continue
    if (version.number !== last + 1) throw new Refused(`version ${version.number} does not follow version ${last}`)
    if ((version.parent ?? 0) > last) throw new Refused(`version ${version.number} is older than its parent`)
    last = version.number
    applyChanges(state, version.changes)
    checkRevisions(version, state)
  }
  for (const { number, base } of versions)
    if (base && !(base.number < (number ?? 0) && base.revision <= (versions[base.number - 1]?.revisions?.length ?? -1)))
      throw new Refused(`version ${number} has an unknown base`)
  checkParents(versions, last)
  for (const hash of used) if (!texts.has(hash)) throw new Refused(`the text ${hash.slice(0, 8)} is missing`)
  for (const hash of texts.keys())
    if (!used.has(hash)) throw new Refused(`no version uses the text ${hash.slice(0, 8)}`)
  for (const { name, path } of evaluations)
    if (path !== null && !paths.has(path)) throw new Refused(`the prompt of the evaluation "${name}" is missing`)
}

/** Every project begins with a draft without a parent, and the import uses that draft. */
function checkParents(versions: readonly ArchivedVersion[], last: number): void {
  if (!versions.some(({ parent }) => parent === null)) throw new Refused('every version has a parent')
  const first = versions.findIndex(({ number }) => number === null)
  if (first >= 0 && versions.slice(first).some(({ number, parent }) => number !== null || (parent ?? 0) > last))
    throw new Refused('drafts must come after all versions and have an existing parent')
}

function checkChanges({ number, changes, revisions }: ArchivedVersion, live: ReadonlyMap<string, string>): void {
  const place = number === null ? 'a draft' : `version ${number}`
  if (number === null && revisions) throw new Refused(`${place} has revisions`)
  const seen = new Set<string>()
  for (const { path, status } of changes) {
    checkPath(place, path)
    if (seen.has(path)) throw new Refused(`${place} changes ${path} twice`)
    seen.add(path)
    if ((status === 'added') === live.has(path))
      throw new Refused(`${place} does not match the version before it: ${path} is ${status}`)
  }
  const sources = changes.flatMap(({ from }) => from ?? [])
  if (new Set(sources).size < sources.length) throw new Refused(`${place} moves a prompt twice`)
  for (const { path, hash, from } of changes)
    if (from !== undefined && (hash === null || from === path || !seen.has(from) || !live.has(from)))
      throw new Refused(`${place} moves ${path} from a path without a prompt`)
}

function checkRevisions({ number, revisions = [] }: ArchivedVersion, published: ReadonlyMap<string, string>): void {
  const edited = new Map<string, string>()
  for (const [index, edit] of revisions.entries()) {
    const { path, oldHash, hash } = edit
    checkPath(`version ${number}`, path)
    const old = edited.get(path) ?? published.get(path) ?? null
    if (edit.revision !== index + 1 || old !== oldHash || old === hash)
      throw new Refused(`a revision of version ${number} does not follow`)
    edited.set(path, hash)
  }
}

function checkPath(place: string, path: string): void {
  if (!isPromptPath(path)) throw new Refused(`${place} has an invalid path: ${JSON.stringify(path)}`)
}
