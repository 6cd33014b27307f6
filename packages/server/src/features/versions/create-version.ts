import type { CreateVersionBody } from '@stet/contract/vocabulary'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { changeProject } from '../documents/change-project.ts'
import type { Version } from '../projects/project.ts'

/** Creates a new draft over live. */
export async function createVersion(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  input: CreateVersionBody & { caller: Caller; projectId: number },
): Promise<Version> {
  const { workspaceId, author } = input.caller
  return changeProject(deps, input, async ({ stores, project, at, touch }) => {
    const version = await stores.versions.create(workspaceId, project.id, {
      title: input.name,
      authorId: author.id,
      parentVersionUuid: project.liveVersionUuid,
      at,
    })
    await touch(version)
    return version
  })
}
