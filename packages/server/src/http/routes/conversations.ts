import type { contract } from '@stet/contract'
import { LIMITS, type ListedRun } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { deleteConversation, eraseConversations } from '../../features/conversations/deletion/delete-conversations.ts'
import { findConversation } from '../../features/conversations/find-conversation.ts'
import { labelConversation } from '../../features/conversations/label-conversation.ts'
import { listConversations } from '../../features/conversations/list-conversations.ts'
import { findRunDetails, listRuns, listRunsOf } from '../../features/conversations/list-runs.ts'
import { recordFeedback } from '../../features/evaluations/annotate.ts'
import { conversationBody, labeledBody, summaryBody } from '../../wire/conversation.ts'
import { feedbackBody } from '../../wire/evaluation.ts'
import { clientBody } from '../../wire/legacy-clients.ts'
import { runBody, runDetailsBody, withContentBodies } from '../../wire/run-record.ts'
import { callerOf, contextOf } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { itemList, sizedBody } from '../raw-response.ts'

export function conversationRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.conversations> {
  return {
    list: async ({ query: { limit, cursor, projectId, from, to, ...equal }, res }) => {
      const filter = {
        ...equal,
        ...(projectId === undefined ? {} : { projectId: pathId(projectId, 'unknown-project') }),
        ...(from === undefined ? {} : { from: new Date(from) }),
        ...(to === undefined ? {} : { to: new Date(to) }),
      }
      const place = defined({ limit, cursor })
      const { items, nextCursor } = await listConversations(deps, { caller: callerOf(res), filter, ...place })
      return { status: 200, body: { items: items.map(summaryBody), nextCursor } }
    },
    get: async ({ params, res }) => {
      const { conversationUuid } = params
      const caller = callerOf(res)
      await unread.reserve(res, caller.apiKeyId)
      const conversation = await findConversation(deps, { caller, conversationUuid })
      const body = clientBody(contextOf(res).legacyClient, conversationBody(conversation))
      return { status: 200, body: sizedBody(unread, res, body) }
    },
    update: async ({ params, body, res }) => {
      const labeled = await labelConversation(deps, { ...params, ...body, caller: callerOf(res) })
      return { status: 200, body: labeledBody(labeled) }
    },
    feedback: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200, bodyOf: feedbackBody }, (own) =>
        recordFeedback(own, { ...params, ...body, caller: callerOf(res) }),
      ),
    erase: async ({ query: { customIdentifier, projectId }, res }) => {
      const project = projectId === undefined ? {} : { projectId: pathId(projectId, 'unknown-project') }
      const erased = await eraseConversations(deps, { caller: callerOf(res), customIdentifier, ...project })
      return { status: 200, body: erased }
    },
    delete: async ({ params: { conversationUuid }, res }) => {
      const { uuid } = await deleteConversation(deps, { caller: callerOf(res), conversationUuid })
      return { status: 200, body: { uuid } }
    },
  }
}

export function runRecordRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.runRecords> {
  return {
    list: async ({ params, query: { from, to, include, ...wanted }, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const times = {
        ...(from === undefined ? {} : { from: new Date(from) }),
        ...(to === undefined ? {} : { to: new Date(to) }),
      }
      const caller = callerOf(res)
      const limit = wanted.limit ?? (include && LIMITS.contentPageSize)
      const found = await listRuns(deps, { caller, projectId, ...wanted, ...times, ...defined({ limit }) })
      const { nextCursor, scannedTo } = found
      const bodyOf = (items: ListedRun[]) => ({ items, nextCursor, scannedTo: scannedTo?.toISOString() ?? null })
      if (!include) return { status: 200, body: bodyOf(found.items.map(runBody)) }
      const items = () => withContentBodies(deps.stores.runRecords.withContent(found.items))
      const list = { items, bodyOf, hasLargeItems: true }
      return { status: 200, body: await itemList(unread, { res, apiKeyId: caller.apiKeyId }, list) }
    },
    get: async ({ params: { runUuid }, res }) => {
      const run = await findRunDetails(deps, { caller: callerOf(res), runUuid })
      return { status: 200, body: runDetailsBody(run) }
    },
    ofConversation: async ({ params: { conversationUuid }, res }) => {
      const runs = await listRunsOf(deps, { caller: callerOf(res), conversationUuid })
      return { status: 200, body: runs.map(runBody) }
    },
  }
}
