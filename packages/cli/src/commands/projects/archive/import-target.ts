import type { Project, Stet, Version } from '@stet/sdk'
import { CliError } from '../../../exit-code.ts'
import type { ArchivedVersion, ProjectArchive } from './project-archive.ts'

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
  /** Returns a draft that can become the version, at most once for each draft. */
  takeDraft(version: ArchivedVersion): Version | undefined
}

export interface ImportInput {
  client: Stet
  archive: ProjectArchive
  target: ImportTarget
  keepsUuids: boolean
  onProgress(done: number, total: number): void
}

interface TargetInput {
  client: Stet
  archive: ProjectArchive
  name: string
  into: number | undefined
  keepsUuids: boolean
}

/** Creates the project, or finds the one to continue. @throws CliError if it has another history */
export async function openTarget(input: TargetInput): Promise<ImportTarget> {
  const { client, archive, name, into } = input
  const projects = await client.projects.list()
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
  const unfinishedName = [...name].slice(0, maxNameLength - unfinishedMark.length).join('') + unfinishedMark
  const unfinished = projects.find((project) => project.name === unfinishedName)
  if (unfinished) return continueIn(input, unfinished, { isNew: false, unfinishedName })
  const { defaultProvider, defaultModel, retentionDays } = archive.project
  const { project } = await client.projects.create(unfinishedName, {
    ...(defaultProvider !== null && { defaultProvider }),
    ...(defaultModel !== null && { defaultModel }),
    ...(retentionDays !== null && { retentionDays }),
  })
  return continueIn(input, project, { isNew: true, unfinishedName })
}

async function continueIn(
  { client, archive, keepsUuids }: TargetInput,
  { id: projectId, name }: Project,
  kind: Pick<ImportTarget, 'isNew' | 'unfinishedName'>,
): Promise<ImportTarget> {
  const versions = await client.versions.list({ projectId })
  const merged = versions.filter(({ version }) => version !== null).reverse()
  const isPrefix = merged.every(({ uuid, version }, index) => {
    const archived = archive.versions[index]
    return keepsUuids && archived?.uuid === uuid && archived.number === version
  })
  if (!isPrefix) {
    const hint =
      kind.unfinishedName === undefined ? 'import into a new project' : `run stet projects delete ${projectId}`
    throw new CliError('conflict', `Project ${projectId} "${name}" has versions that are not in the archive`, { hint })
  }
  const numberOf = new Map(merged.map(({ uuid, version }) => [uuid, version]))
  const drafts = versions.filter(({ version }) => version === null)
  const titles = new Set(archive.versions.map(({ title }) => title))
  const spare = await spareDrafts(client, drafts, archive, kind)
  return {
    ...kind,
    projectId,
    merged,
    takeDraft({ uuid, title, parent }) {
      const own = keepsUuids ? drafts.find((draft) => draft.uuid === uuid) : undefined
      if (own) return own
      const siblings = spare.filter(({ parentCommitUuid: of }) => (of === null ? null : numberOf.get(of)) === parent)
      const found =
        siblings.find((draft) => draft.title === title) ?? siblings.find((draft) => !titles.has(draft.title))
      if (found) spare.splice(spare.indexOf(found), 1)
      return found
    },
  }
}

/** Returns the drafts to reuse: those of an interrupted import, but only unchanged ones in a project that --into names. */
async function spareDrafts(
  client: Stet,
  drafts: readonly Version[],
  archive: ProjectArchive,
  { unfinishedName }: Pick<ImportTarget, 'unfinishedName'>,
): Promise<Version[]> {
  const archived = new Set(archive.versions.map(({ uuid }) => uuid))
  const spare: Version[] = []
  for (const draft of drafts) {
    if (archived.has(draft.uuid)) continue
    const isOurs = unfinishedName !== undefined
    const isEmpty =
      isOurs || (await client.versions.diff(draft.uuid, { projectId: draft.projectId })).changes.length === 0
    if (isEmpty) spare.push(draft)
  }
  return spare.reverse()
}

/** Gives the finished project its final name. */
export async function nameTarget(
  client: Stet,
  { projectId, unfinishedName }: ImportTarget,
  name: string,
): Promise<void> {
  if (unfinishedName !== undefined) await client.projects.update(projectId, { name })
}

/** Deletes a project that this import created. @returns false if that failed, for example without a connection */
export async function removeTarget(client: Stet, { projectId, unfinishedName, isNew }: ImportTarget): Promise<boolean> {
  if (!isNew || unfinishedName === undefined) return false
  return client.projects.delete(projectId, { name: unfinishedName }).then(
    () => true,
    () => false,
  )
}
