/** Finds and lists runs by their facts, never by their messages. A request reads a bounded number of runs. */

import { defined } from '@stet/template/defined'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { possibleInstant } from '../../shared/clock.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs } from '../deps.ts'
import { normalizeDocumentPath } from '../documents/document-path.ts'
import { deletedProjects, findProject, largestId } from '../documents/version-ref.ts'
import type { ConversationAddress, FindDeps } from './find-conversation.ts'
import { findConversationFacts } from './find-conversation.ts'
import { readCursor, writeCursor } from './list-conversations.ts'
import { type RecordedRun, type RunDetails, type RunFilter, startOf } from './ports.ts'

export interface ListRunsInput extends Omit<RunFilter, 'authorId' | 'uuid'> {
  caller: Caller
  projectId: number
  /** The id of an author, or `me`. */
  author?: string
  uuid?: string
  limit?: number
  cursor?: string
}

export interface RunList {
  items: RecordedRun[]
  nextCursor: string | null
  /** In a list by tag or feedback, the start of a conversation. */
  scannedTo: Date | null
}

type ListDeps = Needs<'stores' | 'liveCache' | 'secrets'>

/** @throws AppError NotFoundError for the project, BadRequestError for the cursor. */
export async function listRuns(deps: ListDeps, input: ListRunsInput): Promise<RunList> {
  const { caller, projectId, cursor, limit = 50, ...wanted } = input
  const { workspaceId } = caller
  await findProject(deps, caller, projectId)
  // A list by tag has an order of its own.
  const order = wanted.tag === undefined && wanted.feedback === undefined ? 'run' : 'tagged-run'
  const seal = `workspace:${workspaceId}/project:${projectId}/${order}-cursor`
  const after = cursor === undefined ? undefined : readCursor(deps, seal, cursor)
  const filter = possibleFilter(caller, wanted)
  if (!filter) return { items: [], nextCursor: null, scannedTo: null }
  const { runRecords } = deps.stores
  if (filter.documentUuid !== undefined && !(await runRecords.hasPrompt(projectId, filter.documentUuid))) {
    return { items: [], nextCursor: null, scannedTo: null }
  }
  // One extra place shows whether there is a next page.
  const found = await runRecords.search(projectId, filter, defined({ limit: limit + 1, after }))
  const shown = found.places.slice(0, limit)
  const bound = found.places.length > limit ? (shown.at(-1) ?? null) : found.bound
  const items = await runRecords.list(shown.map(({ uuid }) => uuid))
  return { items, nextCursor: bound && writeCursor(deps, seal, bound), scannedTo: bound && startOf(bound) }
}

/** Returns undefined if no run can match. */
function possibleFilter(
  caller: Caller,
  { author, uuid, versionUuid, documentUuid, path, from, to, ...equal }: Omit<ListRunsInput, 'caller' | 'projectId'>,
): RunFilter | undefined {
  const [version, document] = [versionUuid, documentUuid].map((text) =>
    text === undefined ? undefined : (readUuid(text) ?? null),
  )
  const authorId = author === undefined ? undefined : author === 'me' ? caller.author.id : readAuthorId(author)
  if (version === null || document === null || authorId === null) return undefined
  const range = uuid === undefined ? undefined : uuidRange(uuid)
  return defined({
    ...equal,
    versionUuid: version,
    documentUuid: document,
    authorId,
    path: path === undefined ? undefined : normalizeDocumentPath(path),
    from: from && possibleInstant(from),
    to: to && possibleInstant(to),
    uuid: range,
  })
}

function readAuthorId(text: string): number | null {
  return /^\d{1,10}$/.test(text) && Number(text) <= largestId ? Number(text) : null
}

/** The first and the last uuid with these digits at their start. @throws AppError BadRequestError. */
function uuidRange(prefix: string): { first: string; last: string } {
  const digits = prefix.toLowerCase().replaceAll('-', '')
  if (digits.length < 8 || digits.length > 32) {
    throw refuse('invalid-query', issueAt('uuid', 'must have 8 to 32 hexadecimal digits'))
  }
  const filled = (digit: string) => digits.padEnd(32, digit).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return { first: filled('0'), last: filled('f') }
}

/** @throws AppError NotFoundError, also for malformed ids and for runs that are hidden from the key. */
export async function findRunDetails(
  deps: FindDeps,
  { caller, runUuid }: { caller: Caller; runUuid: string },
): Promise<RunDetails> {
  const uuid = readUuid(runUuid)
  const found = uuid === undefined ? null : await deps.stores.runRecords.findOptional(caller.workspaceId, uuid)
  const isSeen = found && (caller.projectId === null || caller.projectId === found.projectId)
  if (!isSeen || (await deletedProjects(deps)).has(found.projectId)) throw refuse('unknown-run')
  return found
}

/** Oldest first. @throws AppError NotFoundError. */
export async function listRunsOf(deps: FindDeps, address: ConversationAddress): Promise<RecordedRun[]> {
  const { uuid } = await findConversationFacts(deps, address)
  return deps.stores.runRecords.listOf(uuid)
}
