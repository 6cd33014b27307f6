import type { FindDocument } from './find-document.ts'
import type { ImportInput } from './import-target.ts'

/** Creates the examples whose names their prompts do not have yet. @returns how many it created */
export async function importExamples(
  { client, archive, target: { projectId }, signal }: ImportInput,
  findDocument: FindDocument,
): Promise<number> {
  const taken = new Map<string, Set<string>>()
  let created = 0
  for (const { path, name, parameters, messages } of archive.examples) {
    const documentUuid = await findDocument(path)
    if (documentUuid === null) continue
    const names = taken.get(documentUuid) ?? new Set()
    if (!taken.has(documentUuid)) {
      for (const example of await client.examples.list(documentUuid, { projectId, signal })) names.add(example.name)
      taken.set(documentUuid, names)
    }
    if (names.has(name)) continue
    await client.examples.create({ documentUuid, name, parameters, messages }, { projectId, signal })
    created += 1
  }
  return created
}
