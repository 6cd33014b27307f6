import type { Version } from '@stet/sdk'
import type { ImportInput } from './import-target.ts'
import type { ArchivedVersion } from './project-archive.ts'

/** Finds the prompt at a path of the imported project. */
export type FindDocument = (path: string) => Promise<string | null>

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
