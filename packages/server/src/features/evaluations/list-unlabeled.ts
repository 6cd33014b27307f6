/** The queue of conversations that people label: for a judge, for the analysis of errors, or after a thumbs down. */
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { possibleInstant } from '../../shared/clock.ts'
import { readCursor, writeCursor } from '../conversations/list-conversations.ts'
import type { Needs } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'
import { findEvaluation } from './find-evaluation.ts'
import type { UnlabeledConversation } from './ports.ts'

interface QueueInput {
  caller: Caller
  projectId: number
  evaluationUuid: string
  tag?: string
  from?: Date
  limit?: number
  cursor?: string
}

/** Bounds the work of one request. A page may be shorter than its limit, and the next one continues. */
const scanned = 200

/** @throws AppError NotFoundError; BadRequestError for the cursor. */
export async function listUnlabeled(
  deps: Needs<'stores' | 'liveCache' | 'secrets'>,
  input: QueueInput,
): Promise<{ items: UnlabeledConversation[]; nextCursor: string | null }> {
  const { caller, projectId, tag, limit = 20 } = input
  const { workspaceId } = caller
  await findProject(deps, caller, projectId)
  const evaluation = await findEvaluation(deps, input)
  if (evaluation.projectId !== projectId) throw refuse('unknown-evaluation')
  const seal = `project:${projectId}/queue-cursor`
  const after = input.cursor === undefined ? undefined : readCursor(deps, seal, input.cursor)
  const { documentUuid } = evaluation
  const from = input.from && possibleInstant(input.from)
  const filter = { projectId, documentUuid, tag, from, after }
  const found = await deps.stores.scores.listEnded(workspaceId, filter, scanned)
  const uuids = found.map(({ uuid }) => uuid)
  const scores = await deps.stores.scores.list(workspaceId, uuids, [evaluation.uuid])
  const labeled = new Set(scores.flatMap(({ label, conversationUuid }) => (label ? [conversationUuid] : [])))
  const unlabeled = found.filter(({ uuid }) => !labeled.has(uuid))
  const items = unlabeled.slice(0, limit)
  const last = unlabeled.length > limit ? items.at(-1) : found.length === scanned ? found.at(-1) : undefined
  return { items, nextCursor: last ? writeCursor(deps, seal, last) : null }
}
