import type { Evaluation, Example, Project, Stet, Version } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { CliError } from '../../../exit-code.ts'
import type {
  ArchivedChange,
  ArchivedEvaluation,
  ArchivedExample,
  ArchivedRevision,
  ArchivedVersion,
} from './archive-lines.ts'
import type { ProjectArchive } from './project-archive.ts'

const maxAttempts = 3

type OnProgress = (done: number, total: number) => void

export interface ExportedProject extends ProjectArchive {
  /** Names of evaluations that are left out, because their prompt was reverted and is in no version. */
  skipped: string[]
}

/** Reads the whole project. Starts over if the project changes in the meantime. */
export async function exportProject(client: Stet, project: Project, onProgress: OnProgress): Promise<ExportedProject> {
  const listed = () => client.versions.list({ projectId: project.id })
  let before = await listed()
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const archive = await readProject(client, project, before, onProgress)
    const after = await listed()
    if (stateOf(before) === stateOf(after)) return archive
    before = after
  }
  throw new CliError('conflict', 'The project kept changing while it was read', { hint: 'run the command again' })
}

function stateOf(versions: readonly Version[]): string {
  return versions.map(({ uuid, version, updatedAt, isLive }) => `${uuid} ${version} ${updatedAt} ${isLive}`).join('\n')
}

async function readProject(
  client: Stet,
  { id: projectId, name, defaultProvider, defaultModel, retentionDays }: Project,
  listed: readonly Version[],
  onProgress: OnProgress,
): Promise<ExportedProject> {
  const numbers = new Map(listed.map(({ uuid, version }) => [uuid, version]))
  const live = listed.find(({ isLive }) => isLive)?.version ?? 0
  const texts = new Map<string, string>()
  const pathOf = new Map<string, string>()
  const current = new Map<string, string>()
  const versions: ArchivedVersion[] = []
  /** Reads the changes of a version, or of one of its revisions. */
  const diff = async ({ version: number }: Version, ref: string, base?: string): Promise<Diffed[]> => {
    const { changes } = await client.versions.diff(ref, defined({ projectId, base }))
    for (const { path, documentUuid, after, movedFrom } of changes) {
      if (after || !pathOf.has(documentUuid)) pathOf.set(documentUuid, path)
      // Live has a prompt until a version up to it deletes it. A draft can only add others, or move one that live has deleted.
      if (number !== null && number <= live && !after) current.delete(path)
      const isLive = current.has(path) || (movedFrom && current.get(movedFrom.path) === documentUuid)
      const isAdded = number === null ? !isLive : number <= live
      if (after && isAdded) current.set(path, documentUuid)
      if (after) texts.set(after.contentHash, after.content)
    }
    return changes
  }
  let previous: string | undefined
  for (const version of inOrder(listed)) {
    const { uuid, version: number, forcedEdits, parentCommitUuid, baseVersionUuid, baseRevision } = version
    const changes = number === null ? await diff(version, uuid) : await diff(version, `${uuid}@0`, previous)
    if (number !== null) previous = `${uuid}@0`
    const revisions: ArchivedRevision[] = []
    for (const { revision, path, oldHash, newHash: hash, author, createdAt } of forcedEdits) {
      await diff(version, `${uuid}@${revision}`, `${uuid}@${revision - 1}`)
      const { name, email } = author
      revisions.push({ revision, path, oldHash, hash, author: { name, email }, createdAt })
    }
    const base = { number: numbers.get(baseVersionUuid ?? '') ?? 0, revision: baseRevision ?? 0 }
    const isPrevious = base.number === 0 || (base.number === Number(number) - 1 && base.revision === 0)
    versions.push({
      ...archivedVersion(version, numbers.get(parentCommitUuid ?? '') ?? null, archivedChanges(changes)),
      ...(!isPrevious && { base }),
      ...(revisions.length > 0 && { revisions }),
    })
    onProgress(versions.length, listed.length)
  }
  const evaluations = await client.evaluations.list({ projectId })
  const examples = await archivedExamples(client, projectId, current)
  const project = { name, defaultProvider, defaultModel, retentionDays }
  return { project, live, versions, texts, examples, ...archivedEvaluations(evaluations.reverse(), pathOf) }
}

function inOrder(versions: readonly Version[]): Version[] {
  const place = ({ version }: Version) => version ?? Number.POSITIVE_INFINITY
  return [...versions].sort((a, b) => (place(a) === place(b) ? a.id - b.id : place(a) - place(b)))
}

function archivedVersion(version: Version, parent: number | null, changes: ArchivedChange[]): ArchivedVersion {
  const { uuid, version: number, title, description, authorName, authorEmail, createdAt, mergedAt } = version
  const author = { name: authorName, email: authorEmail }
  return { uuid, number, title, description, parent, author, createdAt, mergedAt, changes }
}

function archivedEvaluations(
  evaluations: readonly Evaluation[],
  pathOf: ReadonlyMap<string, string>,
): Pick<ExportedProject, 'evaluations' | 'skipped'> {
  const archived: ArchivedEvaluation[] = []
  const skipped: string[] = []
  for (const { uuid, name, description, metric, documentUuid, configuration } of evaluations) {
    const path = documentUuid === null ? null : pathOf.get(documentUuid)
    if (path === undefined) skipped.push(name)
    else archived.push({ uuid, name, description, metric, path, configuration })
  }
  return { evaluations: archived, skipped }
}

/** @param current the prompts of live and of the drafts, by path */
async function archivedExamples(
  client: Stet,
  projectId: number,
  current: ReadonlyMap<string, string>,
): Promise<ArchivedExample[]> {
  const archived: ArchivedExample[] = []
  for (const path of [...current.keys()].sort()) {
    for (const example of await client.examples.list(current.get(path) ?? '', { projectId }))
      archived.push({ path, ...archivedRow(example) })
  }
  return archived
}

function archivedRow({ name, parameters, messages, expected, checks, toolResults, tags }: Example) {
  return {
    ...{ name, parameters, messages },
    ...(expected !== null && { expected }),
    ...(checks.length > 0 && { checks }),
    ...(Object.keys(toolResults).length > 0 && { toolResults }),
    ...(tags.length > 0 && { tags }),
  }
}

type Diffed = Awaited<ReturnType<Stet['versions']['diff']>>['changes'][number]

/** Without the moves of a draft from a path at which live has no prompt any more: no import could repeat them. */
function archivedChanges(changes: readonly Diffed[]): ArchivedChange[] {
  const sources = new Set(changes.filter(({ status }) => status !== 'added').map(({ path }) => path))
  return changes.map(({ path, status, after, conflict, movedFrom }) => {
    const from = movedFrom && sources.has(movedFrom.path) ? { from: movedFrom.path } : undefined
    return { path, status, hash: after?.contentHash ?? null, ...from, conflict }
  })
}
