import type { FindDocument } from './find-document.ts'
import type { ImportInput } from './import-target.ts'

/** Evaluations get new uuids on the server. */
export interface ImportedEvaluation {
  name: string
  from: string
  to: string
}

/** Creates the evaluations that the project does not have yet. */
export async function importEvaluations(input: ImportInput, findDocument: FindDocument): Promise<ImportedEvaluation[]> {
  const { client, archive, target, signal } = input
  const { projectId } = target
  const existing = await client.evaluations.list({ projectId, signal })
  const imported: ImportedEvaluation[] = []
  for (const evaluation of archive.evaluations) {
    const { uuid: from, name, description, metric, path, configuration } = evaluation
    const documentUuid = path === null ? null : await findDocument(path)
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
        { projectId, signal },
      ))
    imported.push({ name, from, to: created.uuid })
  }
  return imported
}
