import type { Project, Stet, Version } from '@stet/sdk'
import { CliError } from '../../../exit-code.ts'
import type { ArchivedVersion } from './archive-lines.ts'
import { type ProjectArchive, sha256 } from './project-archive.ts'

const unfinishedMark = ' (import not finished)'
const maxNameLength = 256

export interface ImportTarget {
  projectId: number
  /** The name until the import is complete. Undefined for a project that the user named with --into. */
  unfinishedName?: string
  /** True if this import created the project. */
  isNew: boolean
  /** Versions of the archive that the project already has. */
  merged: readonly Version[]
  /** The version's uuid in this project. The same for each import of the archive, so that an import recognizes its own half. */
  uuidOf(version: Pick<ArchivedVersion, 'uuid'>): string
  /** Returns a draft that can become the version, at most once for each draft. `isOwn` if an import of the version has begun. */
  takeDraft(version: ArchivedVersion): { draft: Version; isOwn: boolean } | undefined
}

/** The title of a draft until it has its uuid. A draft that another person created has another title. */
export function draftTitle(uuid: string): string {
  return `import of ${uuid}`
}

export interface ImportInput {
  client: Stet
  archive: ProjectArchive
  target: ImportTarget
  signal: AbortSignal
  onProgress(done: number, total: number): void
}

interface TargetInput {
  client: Stet
  archive: ProjectArchive
  name: string
  into: number | undefined
  keepsUuids: boolean
  signal: AbortSignal
}

/** Creates the project, or finds the one to continue. @throws CliError if it has another history */
export async function openTarget(input: TargetInput): Promise<ImportTarget> {
  const { client, archive, name, into, signal } = input
  const projects = await client.projects.list({ signal })
  if (into !== undefined) {
    const project = projects.find(({ id }) => id === into)
    if (!project) throw new CliError('not_found', `Project ${into} not found`, { hint: 'run stet projects list' })
    return continueIn(input, project, { isNew: false })
  }
  const taken = projects.find((project) => project.name === name)
  if (taken)
    throw new CliError('conflict', `A project "${name}" already exists (${taken.id})`, {
      hint: `pass --name <another name>, or --into ${taken.id} to continue its history`,
    })
  const unfinishedName = unfinishedNameOf(name)
  const unfinished = projects.find((project) => project.name === unfinishedName)
  if (unfinished) return continueIn(input, unfinished, { isNew: false, unfinishedName })
  const { defaultProvider, defaultModel, retentionDays } = archive.project
  const { project } = await client.projects.create(unfinishedName, {
    signal,
    ...(defaultProvider !== null && { defaultProvider }),
    ...(defaultModel !== null && { defaultModel }),
    ...(retentionDays !== null && { retentionDays }),
  })
  return continueIn(input, project, { isNew: true, unfinishedName })
}

export function unfinishedNameOf(name: string): string {
  return [...name].slice(0, maxNameLength - unfinishedMark.length).join('') + unfinishedMark
}

async function continueIn(
  { client, archive, keepsUuids, signal }: TargetInput,
  { id: projectId, name, createdAt }: Project,
  kind: Pick<ImportTarget, 'isNew' | 'unfinishedName'>,
): Promise<ImportTarget> {
  const uuidOf = ({ uuid }: Pick<ArchivedVersion, 'uuid'>) =>
    keepsUuids ? uuid : newUuid(`${projectId} ${createdAt} ${uuid}`)
  const versions = await client.versions.list({ projectId, signal })
  const merged = versions.filter(({ version }) => version !== null).reverse()
  const isPrefix = merged.every(({ uuid, version, forcedEdits }, index) => {
    const archived = archive.versions[index]
    if (archived === undefined || uuidOf(archived) !== uuid || archived.number !== version) return false
    return forcedEdits.every(({ newHash }, at) => newHash === archived.revisions?.[at]?.hash)
  })
  const next = merged[archive.live - 1]
  // A rollback to a version that was edited meanwhile makes a new one.
  if (!isPrefix || (next && !next.isLive && next.revision > 0)) {
    const hint =
      kind.unfinishedName === undefined ? 'import into a new project' : `run stet projects delete ${projectId}`
    throw new CliError('conflict', `Project ${projectId} "${name}" has a history that is not in the archive`, { hint })
  }
  const numberOf = new Map(merged.map(({ uuid, version }) => [uuid, version]))
  const drafts = versions.filter(({ version }) => version === null)
  const named = new Map(drafts.flatMap((draft) => [[draft.uuid, draft] as const, [draft.title, draft] as const]))
  const owned = archive.versions.map((version) => named.get(uuidOf(version)) ?? named.get(draftTitle(uuidOf(version))))
  const spare = await emptyDrafts(
    client,
    drafts.filter((draft) => !owned.includes(draft)),
    signal,
  )
  return {
    ...kind,
    projectId,
    merged,
    uuidOf,
    takeDraft(version) {
      const own = owned[archive.versions.indexOf(version)]
      if (own) return { draft: own, isOwn: true }
      const draft = spare.find(({ parentCommitUuid: of }) => (of === null ? null : numberOf.get(of)) === version.parent)
      if (!draft) return undefined
      spare.splice(spare.indexOf(draft), 1)
      return { draft, isOwn: false }
    },
  }
}

function newUuid(seed: string): string {
  const hex = sha256(seed)
  // Version 8 is for uuids that a program derives in its own way.
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(12, 15)}`, `a${hex.slice(15, 18)}`, hex.slice(18, 30)]
  return parts.join('-')
}

/** Every project begins with an empty draft. One with changes may be another person's work. */
async function emptyDrafts(client: Stet, drafts: readonly Version[], signal: AbortSignal): Promise<Version[]> {
  const empty: Version[] = []
  for (const draft of drafts) {
    const { changes } = await client.versions.diff(draft.uuid, { projectId: draft.projectId, signal })
    if (changes.length === 0) empty.push(draft)
  }
  return empty.reverse()
}

/** Gives the finished project its final name. */
export async function nameTarget(
  client: Stet,
  { projectId, unfinishedName }: ImportTarget,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<void> {
  if (unfinishedName !== undefined) await client.projects.update(projectId, { name }, { signal })
}

/** Deletes a project that this import created. @returns false if that failed, for example without a connection */
export async function removeTarget(client: Stet, { projectId, unfinishedName, isNew }: ImportTarget): Promise<boolean> {
  if (!isNew || unfinishedName === undefined) return false
  return client.projects.delete(projectId, { name: unfinishedName }).then(
    () => true,
    () => false,
  )
}
