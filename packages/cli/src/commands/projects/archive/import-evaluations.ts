import type { Version } from '@stet/sdk'
import type { ImportInput } from './import-target.ts'
import type { ArchivedEvaluation, ArchivedVersion } from './project-archive.ts'

/** Evaluations get new uuids on the server. */
export interface ImportedEvaluation {
  name: string
  from: string
  to: string
}

/** Creates the evaluations that the project does not have yet. */
export async function importEvaluations(
  input: ImportInput,
  made: ReadonlyMap<ArchivedVersion, Version>,
): Promise<ImportedEvaluation[]> {
  const { client, archive, target } = input
  const { projectId } = target
  const existing = await client.evaluations.list({ projectId })
  const imported: ImportedEvaluation[] = []
  for (const evaluation of archive.evaluations) {
    const { uuid: from, name, description, metric, path, configuration } = evaluation
    const documentUuid = path === null ? null : await findDocument(input, made, path)
    const same = existing.findIndex((one) => one.name === name && one.documentUuid === documentUuid)
    const [found] = same < 0 ? [] : existing.splice(same, 1)
    const created =
      found ??
      (await client.evaluations.create(
        {
          name,
          metric,
          configuration,
          ...(description !== null && { description }),
          ...(documentUuid !== null && { documentUuid }),
        },
        { projectId },
      ))
    imported.push({ name, from, to: created.uuid })
  }
  return imported
}

/** Looks in the last version that changed the prompt, because live may no longer have it. */
async function findDocument(
  { client, archive, target: { projectId } }: ImportInput,
  made: ReadonlyMap<ArchivedVersion, Version>,
  path: NonNullable<ArchivedEvaluation['path']>,
): Promise<string | null> {
  const changes = ({ changes }: ArchivedVersion) => changes.some((change) => change.path === path)
  const archived = archive.versions.findLast(changes)
  const version = archived && made.get(archived)
  if (!version) return null
  const diff = await client.versions.diff(version.uuid, { projectId })
  return diff.changes.find((change) => change.path === path)?.documentUuid ?? null
}
