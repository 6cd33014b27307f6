import type { Version } from '@stet/sdk'
import type { ImportInput } from './import-target.ts'
import type { ArchivedVersion } from './project-archive.ts'

/** Finds the prompt at a path of the imported project. */
export type FindDocument = (path: string) => Promise<string | null>

/** Looks in the last version that changed the prompt, because live may no longer have it. Reads each version once. */
export function documentFinder(
  { client, archive, target: { projectId }, signal }: ImportInput,
  made: ReadonlyMap<ArchivedVersion, Version>,
): FindDocument {
  const read = new Map<string, Promise<Map<string, string>>>()
  const documentsOf = async (uuid: string) => {
    const { changes } = await client.versions.diff(uuid, { projectId, signal })
    return new Map(changes.map(({ path, documentUuid }) => [path, documentUuid]))
  }
  return async (path) => {
    const archived = archive.versions.findLast(({ changes }) => changes.some((change) => change.path === path))
    const version = archived && made.get(archived)
    if (!version) return null
    const documents = read.get(version.uuid) ?? documentsOf(version.uuid)
    read.set(version.uuid, documents)
    return (await documents).get(path) ?? null
  }
}
