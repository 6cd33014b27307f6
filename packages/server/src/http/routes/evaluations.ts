import type { contract } from '@stet/contract'
import { findConversationFacts } from '../../features/conversations/find-conversation.ts'
import { annotate, removeLabel } from '../../features/evaluations/annotate.ts'
import { archiveEvaluation, createEvaluation } from '../../features/evaluations/create-evaluation.ts'
import type { Evaluation } from '../../features/evaluations/evaluation.ts'
import { findEvaluation, listEvaluations } from '../../features/evaluations/find-evaluation.ts'
import { readAgreement } from '../../features/evaluations/judge/read-agreement.ts'
import { listUnlabeled } from '../../features/evaluations/list-unlabeled.ts'
import {
  agreementBody,
  annotationBody,
  evaluationBody,
  listedAnnotationBody,
  queueItemBody,
} from '../../wire/evaluation.ts'
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
    update: async ({ params, body, res }) => {
      const evaluation = await archiveEvaluation(deps, { ...params, ...body, caller: callerOf(res) })
      return { status: 200, body: evaluationBody(evaluation) }
    },
    get: async ({ params, res }) => {
      const evaluation = await findEvaluation(deps, { ...params, caller: callerOf(res) })
      return { status: 200, body: evaluationBody(evaluation) }
    },
    agreement: async ({ params, query, res }) => {
      const agreement = await readAgreement(deps, { ...params, ...query, caller: callerOf(res) })
      return { status: 200, body: agreementBody(agreement) }
    },
    queue: async ({ params, query: { evaluation: evaluationUuid, from, ...query }, res }) => {
      const address = { projectId: pathId(params.projectId, 'unknown-project'), evaluationUuid, caller: callerOf(res) }
      const since = from === undefined ? {} : { from: new Date(from) }
      const { items, nextCursor } = await listUnlabeled(deps, { ...address, ...query, ...since })
      return { status: 200, body: { items: items.map(queueItemBody), nextCursor } }
    },
    annotate: async ({ params, body: { versionUuid, ...body }, req, res }) =>
      onlyOnce(deps, { req, res, status: 201, bodyOf: annotationBody }, (own) => {
        const version = versionUuid === undefined ? {} : { versionRef: versionUuid }
        return annotate(own, { ...params, ...body, ...version, caller: callerOf(res) })
      }),
    removeLabel: async ({ params, res }) => ({
      status: 200,
      body: { deleted: await removeLabel(deps, { ...params, caller: callerOf(res) }) },
    }),
    annotations: async ({ params, query: { states = 'scored' }, res }) => {
      const caller = callerOf(res)
      const { uuid } = await findConversationFacts(deps, { ...params, caller })
      await unread.reserve(res, caller.apiKeyId)
      const annotations = await deps.stores.annotations.list(caller.workspaceId, uuid, states)
      return { status: 200, body: sizedBody(unread, res, annotations.map(listedAnnotationBody)) }
    },
  }
}
