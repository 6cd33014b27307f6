/** Lists conversations in pages, newest first. New conversations do not shift later pages. */

import { defined } from '@stet/template/defined'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { possibleInstant } from '../../shared/clock.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs } from '../deps.ts'
import { normalizeDocumentPath } from '../documents/document-path.ts'
import { deletedProjects, findProject } from '../documents/version-ref.ts'
import type { ConversationFilter, RunPlace, StoredSummary } from './ports.ts'

/** @throws AppError NotFoundError for the project, BadRequestError for the cursor. */
export async function listConversations(
  deps: Needs<'stores' | 'liveCache' | 'secrets'>,
  input: { caller: Caller; filter: ConversationFilter; limit?: number; cursor?: string },
): Promise<{ items: StoredSummary[]; nextCursor: string | null }> {
  const { caller, limit = 25, cursor } = input
  const { workspaceId } = caller
  if (input.filter.projectId !== undefined) await findProject(deps, caller, input.filter.projectId)
  const after = cursor === undefined ? undefined : readCursor(deps, sealOf(workspaceId), cursor)
  const hiddenProjects = [...(await deletedProjects(deps))]
  const filter = possibleFilter(caller, { ...input.filter, hiddenProjects })
  if (!filter) return { items: [], nextCursor: null }
  // One extra row shows whether there is a next page.
  const page = defined({ limit: limit + 1, after })
  const found = await deps.stores.conversations.list(workspaceId, filter, page)
  const items = found.slice(0, limit)
  const last = found.length > limit ? items.at(-1) : undefined
  return { items, nextCursor: last ? writeCursor(deps, sealOf(workspaceId), last) : null }
}

function possibleFilter(caller: Caller, filter: ConversationFilter): ConversationFilter | undefined {
  const { versionUuid, documentUuid, path, from, to, ...rest } = filter
  const uuids = [versionUuid, documentUuid].map((uuid) => (uuid === undefined ? undefined : (readUuid(uuid) ?? null)))
  const [version, document] = uuids
  if (version === null || document === null) return undefined
  return defined({
    ...rest,
    from: from && possibleInstant(from),
    to: to && possibleInstant(to),
    projectId: caller.projectId ?? rest.projectId,
    versionUuid: version,
    documentUuid: document,
    path: path === undefined ? undefined : normalizeDocumentPath(path),
  })
}

/** @param seal binds the cursor to its list, so that no other sealed text is a valid cursor. */
export function writeCursor(deps: Needs<'secrets'>, seal: string, { conversation, ...run }: RunPlace): string {
  const places = conversation ? [run, conversation] : [run]
  return deps.secrets.seal(places.map(({ createdAt, uuid }) => `${createdAt.getTime()} ${uuid}`).join(' '), seal)
}

/** @throws AppError BadRequestError if the cursor was not created with this seal. */
export function readCursor(deps: Needs<'secrets'>, seal: string, cursor: string): RunPlace {
  try {
    const [time = '', uuid = '', start, conversationUuid = ''] = deps.secrets.open(cursor, seal).split(' ')
    const conversation =
      start === undefined ? undefined : { createdAt: new Date(Number(start)), uuid: conversationUuid }
    return defined({ createdAt: new Date(Number(time)), uuid, conversation })
  } catch {
    throw refuse('invalid-query', issueAt('cursor', 'is not a cursor of this list'))
  }
}

function sealOf(workspaceId: number): string {
  return `workspace:${workspaceId}/conversation-cursor`
}
