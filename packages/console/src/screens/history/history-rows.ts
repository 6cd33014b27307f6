import type { Release, Version } from '@stet/sdk'

/** Texts that a published version has, or had before a forced edit. */
export interface TextsRow {
  kind: 'version' | 'revision'
  /** In the address of the row: the uuid of the version, and of a revision `<uuid>@<revision>`. */
  entry: string
  /** The reference of these texts for the server. A version has those of its publication, also after edits. */
  texts: string
  /** "v13", or "v13.1" after the first forced edit. */
  name: string
  /** The texts to compare with: the release that they replaced, or the revision before. Null if there is none. */
  base: { texts: string; name: string } | null
  /** True for the texts that live serves, which need not have the highest number. */
  isLive: boolean
  /** Live can return only to what it has served. */
  wasServed: boolean
  version: Version
  /** The edit that made the revision. */
  edit?: Version['forcedEdits'][number]
}

export interface RollbackRow {
  kind: 'rollback'
  release: Release
  /** The version that live returned to. */
  name: string
  /** The row whose texts live has served since. */
  entry: string
}

export type HistoryRow = TextsRow | RollbackRow

/** The releases that are loaded, newest first. */
export interface LoadedReleases {
  items: readonly Release[]
  /** False while older ones are not loaded. */
  isComplete: boolean
}

/**
 * The history, newest first. The revisions of a version follow it, because each is a state of that version. A rollback
 * precedes the versions that were published before it.
 *
 * @param published by descending number
 */
export function historyRows(published: readonly Version[], releases: LoadedReleases): HistoryRow[] {
  const byUuid = new Map(published.map((version) => [version.uuid, version]))
  const rollbacks = releases.items
    .filter(({ kind }) => kind === 'rollback')
    .map((release) => rollbackRow(release, byUuid))
  const rows: HistoryRow[] = []
  let next = 0
  for (const version of published) {
    const isOlder = ({ release }: RollbackRow) => version.mergedAt !== null && release.createdAt < version.mergedAt
    const end = rollbacks.findIndex((rollback, at) => at >= next && isOlder(rollback))
    rows.push(...rollbacks.slice(next, end < 0 ? undefined : end))
    next = end < 0 ? rollbacks.length : end
    rows.push(versionRow(version, byUuid), ...revisionRows(version, releases))
  }
  return rows
}

/** Where the history shows a version at a revision. */
export function entryOf({ uuid, revision }: { uuid: string; revision: number }): string {
  return revision === 0 ? uuid : `${uuid}@${revision}`
}

export function nameOf(number: number | null, revision: number): string {
  return revision === 0 ? `v${number}` : `v${number}.${revision}`
}

function versionRow(version: Version, byUuid: ReadonlyMap<string, Version>): TextsRow {
  return {
    kind: 'version',
    entry: version.uuid,
    texts: `${version.uuid}@0`,
    name: nameOf(version.version, 0),
    base: baseOf(version, byUuid),
    isLive: version.isLive && version.revision === 0,
    wasServed: true,
    version,
  }
}

/** Newest first, like all lists. */
function revisionRows(version: Version, releases: LoadedReleases): TextsRow[] {
  const { uuid, version: number } = version
  return version.forcedEdits.toReversed().map((edit) => ({
    kind: 'revision',
    entry: entryOf({ uuid, revision: edit.revision }),
    texts: `${uuid}@${edit.revision}`,
    name: nameOf(number, edit.revision),
    base: { texts: `${uuid}@${edit.revision - 1}`, name: nameOf(number, edit.revision - 1) },
    isLive: version.isLive && version.revision === edit.revision,
    wasServed: wasServed({ uuid, revision: edit.revision }, edit.createdAt, releases),
    version,
    edit,
  }))
}

function rollbackRow(release: Release, byUuid: ReadonlyMap<string, Version>): RollbackRow {
  const { uuid, number, revision } = release.version
  const version = byUuid.get(uuid)
  // Texts that were edited since became a new version, made by the rollback. Its base is what live returned to.
  const isCopy = version?.mergedAt === release.createdAt && revision === 0
  const base = isCopy && version ? baseOf(version, byUuid) : null
  return { kind: 'rollback', release, name: base?.name ?? nameOf(number, revision), entry: entryOf({ uuid, revision }) }
}

function baseOf({ baseVersionUuid, baseRevision }: Version, byUuid: ReadonlyMap<string, Version>): TextsRow['base'] {
  const base = baseVersionUuid === null ? undefined : byUuid.get(baseVersionUuid)
  if (!base) return null
  const revision = baseRevision ?? 0
  return { texts: `${base.uuid}@${revision}`, name: nameOf(base.version, revision) }
}

/** An edit of a version that live did not serve is in no release. */
function wasServed(at: { uuid: string; revision: number }, createdAt: string, { items, isComplete }: LoadedReleases) {
  const oldest = items.at(-1)
  if (!isComplete && oldest && createdAt < oldest.createdAt) return true
  return items.some(({ version }) => version.uuid === at.uuid && version.revision === at.revision)
}
