/** Where a page of conversations ended, sealed: callers cannot read, make or move a cursor. */
import { invalid } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { ConversationPlace } from '../ports.ts'

export function writeCursor(deps: Needs<'secrets'>, workspaceId: number, place: ConversationPlace): string {
  return deps.secrets.seal(`${place.createdAt.getTime()} ${place.uuid}`, contextOf(workspaceId))
}

/** @throws AppError BadRequestError for one that this server did not write for the workspace. */
export function readCursor(deps: Needs<'secrets'>, workspaceId: number, cursor: string): ConversationPlace {
  const [time = '', uuid = ''] = open(deps, workspaceId, cursor).split(' ')
  return { createdAt: new Date(Number(time)), uuid }
}

function open(deps: Needs<'secrets'>, workspaceId: number, cursor: string): string {
  try {
    return deps.secrets.open(cursor, contextOf(workspaceId))
  } catch {
    throw badCursor()
  }
}

// Bound to what it is for: no other sealed text passes as a cursor, nor a cursor of another workspace.
function contextOf(workspaceId: number): string {
  return `workspace:${workspaceId}/conversation-cursor`
}

function badCursor(): Error {
  const message = 'is not a cursor of this list'
  return invalid(`Invalid request: cursor: ${message}`, { issues: [{ path: ['cursor'], code: 'custom', message }] })
}
