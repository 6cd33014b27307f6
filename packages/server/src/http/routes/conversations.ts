import type { contract } from '@stet/contract'
import { defined } from '@stet/template/defined'
import { deleteConversation, eraseConversations } from '../../features/conversations/deletion/delete-conversations.ts'
import { findConversation } from '../../features/conversations/find-conversation.ts'
import { listConversations } from '../../features/conversations/list-conversations.ts'
import { findRunDetails, listRuns, listRunsOf } from '../../features/conversations/list-runs.ts'
import { conversationBody, summaryBody } from '../../wire/conversation.ts'
import { clientBody } from '../../wire/legacy-clients.ts'
import { runBody, runDetailsBody } from '../../wire/run-record.ts'
import { callerOf, contextOf } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import type { Routes } from '../mount.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { sizedBody } from '../raw-response.ts'

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

export function runRecordRoutes(deps: HttpDeps): Routes<typeof contract.runRecords> {
  return {
    list: async ({ params, query: { from, to, ...wanted }, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const times = {
        ...(from === undefined ? {} : { from: new Date(from) }),
        ...(to === undefined ? {} : { to: new Date(to) }),
      }
      const found = await listRuns(deps, { caller: callerOf(res), projectId, ...wanted, ...times })
      const scannedTo = found.scannedTo?.toISOString() ?? null
      return { status: 200, body: { items: found.items.map(runBody), nextCursor: found.nextCursor, scannedTo } }
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
