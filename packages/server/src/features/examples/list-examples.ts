/** Lists a prompt's examples, oldest first. An unknown or malformed prompt uuid gives an empty list. */
import type { Caller } from '../../shared/caller.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'
import type { Example } from './example.ts'

/** @throws AppError NotFoundError for the project. */
export async function listExamples(
  deps: Needs<'stores' | 'liveCache'>,
  { caller, projectId, documentUuid }: { caller: Caller; projectId: number; documentUuid: string },
): Promise<Example[]> {
  await findProject(deps, caller, projectId)
  const uuid = readUuid(documentUuid)
  return uuid === undefined ? [] : deps.stores.examples.list(caller.workspaceId, projectId, uuid)
}
