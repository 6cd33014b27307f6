/** Evaluations and examples of an imported project. */
import type { Version } from '@stet/sdk'
import { inBatches } from '../../examples/rows/send-rows.ts'
import type { ArchivedExample, ArchivedVersion } from './archive-lines.ts'
import type { ImportInput } from './import-target.ts'

/** Finds the prompt at a path of the imported project. */
type FindDocument = (path: string) => Promise<string | null>

/** Looks in live, then in the last version that changed the prompt, because live may not have it. Reads each version once. */
export function documentFinder(
  { client, archive, target: { projectId }, signal }: ImportInput,
  made: ReadonlyMap<ArchivedVersion, Version>,
): FindDocument {
  const read = new Map<string, Promise<Map<string, string>>>()
  const documentsOf = async (uuid: string) => {
    const { items } = await client.versions.tree(uuid, { projectId, signal })
    return new Map(items.map(({ path, documentUuid }) => [path, documentUuid]))
  }
  return async (path) => {
    const changed = archive.versions.findLast(({ changes, revisions = [] }) =>
      [...changes, ...revisions].some((change) => change.path === path && change.hash !== null),
    )
    for (const archived of [archive.versions[archive.live - 1], changed]) {
      const version = archived && made.get(archived)
      if (!version) continue
      const documents = read.get(version.uuid) ?? documentsOf(version.uuid)
      read.set(version.uuid, documents)
      const found = (await documents).get(path)
      if (found !== undefined) return found
    }
    return null
  }
}

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

/** Creates the examples whose names their prompts do not have yet. @returns how many it created */
export async function importExamples(
  { client, archive, target: { projectId }, signal }: ImportInput,
  findDocument: FindDocument,
): Promise<number> {
  let created = 0
  for (const path of new Set(archive.examples.map((example) => example.path))) {
    const documentUuid = await findDocument(path)
    if (documentUuid === null) continue
    const stored = await client.examples.list(documentUuid, { projectId, signal, summary: true })
    const names = new Set(stored.map(({ name }) => name))
    const missing = archive.examples.filter((each) => each.path === path && !names.has(each.name)).map(rowOf)
    for (const batch of inBatches(missing)) {
      const changes = batch.map(({ name, change }) => ({ name, ...change }))
      const { added } = await client.examples.batch({ documentUuid, changes }, { projectId, signal })
      created += added
    }
  }
  return created
}

function rowOf({ path, name, ...change }: ArchivedExample) {
  return { file: path, line: 0, name, change }
}
