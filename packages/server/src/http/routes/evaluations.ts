import type { contract } from '@stet/contract'
import { findConversationFacts } from '../../features/conversations/find-conversation.ts'
import { annotate } from '../../features/evaluations/annotate.ts'
import { createEvaluation } from '../../features/evaluations/create-evaluation.ts'
import type { Evaluation } from '../../features/evaluations/evaluation.ts'
import { findEvaluation, listEvaluations } from '../../features/evaluations/find-evaluation.ts'
import { annotationBody, evaluationBody } from '../../wire/evaluation.ts'
import { callerOf } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { sizedBody } from '../raw-response.ts'

export function evaluationRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.evaluations> {
  return {
    create: async ({ body, req, res }) => {
      const subjectOf = ({ projectId }: Evaluation) => ({ projectId })
      return onlyOnce(deps, { req, res, status: 201, bodyOf: evaluationBody, subjectOf }, (own) =>
        createEvaluation(own, { ...body, caller: callerOf(res) }),
      )
    },
    list: async ({ query: { projectId, ...query }, res }) => {
      const project = projectId === undefined ? {} : { projectId: pathId(projectId, 'unknown-project') }
      const caller = callerOf(res)
      await unread.reserve(res, caller.apiKeyId)
      const evaluations = await listEvaluations(deps, { ...query, ...project, caller })
      return { status: 200, body: sizedBody(unread, res, evaluations.map(evaluationBody)) }
    },
    get: async ({ params, res }) => {
      const evaluation = await findEvaluation(deps, { ...params, caller: callerOf(res) })
      return { status: 200, body: evaluationBody(evaluation) }
    },
    annotate: async ({ params, body: { versionUuid, ...body }, req, res }) =>
      onlyOnce(deps, { req, res, status: 201, bodyOf: annotationBody }, (own) => {
        const version = versionUuid === undefined ? {} : { versionRef: versionUuid }
        return annotate(own, { ...params, ...body, ...version, caller: callerOf(res) })
      }),
    annotations: async ({ params, res }) => {
      const caller = callerOf(res)
      const { uuid } = await findConversationFacts(deps, { ...params, caller })
      await unread.reserve(res, caller.apiKeyId)
      const annotations = await deps.stores.annotations.list(caller.workspaceId, uuid)
      return { status: 200, body: sizedBody(unread, res, annotations.map(annotationBody)) }
    },
  }
}
