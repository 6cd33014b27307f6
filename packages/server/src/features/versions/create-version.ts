/** Creates a new draft over live. */

import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { changeProject } from '../documents/change-project.ts'
import type { Version } from '../projects/project.ts'

export interface CreateVersionInput {
  caller: Caller
  projectId: number
  name: string
}

export async function createVersion(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  input: CreateVersionInput,
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
