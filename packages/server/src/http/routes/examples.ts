import type { contract } from '@stet/contract'
import type { ChangedExamples, Example } from '@stet/contract/vocabulary'
import { findProject } from '../../features/documents/version-ref.ts'
import { changeExamples } from '../../features/examples/change-examples.ts'
import { createExample, deleteExample, updateExample } from '../../features/examples/save-example.ts'
import { saveRuns } from '../../features/examples/save-runs.ts'
import { readUuid } from '../../shared/text-guards.ts'
import { exampleBody, exampleSummaryBody, savedRunsBody } from '../../wire/example.ts'
import { callerOf } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { itemList, sizedBody } from '../raw-response.ts'

export function exampleRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.examples> {
  return {
    list: async ({ params, query, res }) => {
      const caller = callerOf(res)
      const { workspaceId, apiKeyId } = caller
      const projectId = pathId(params.projectId, 'unknown-project')
      await findProject(deps, caller, projectId)
      const documentUuid = readUuid(query.documentUuid)
      if (documentUuid === undefined) return { status: 200, body: [] }
      const { examples } = deps.stores
      if (query.summary) {
        await unread.reserve(res, apiKeyId)
        const summaries = await examples.listSummaries(workspaceId, projectId, documentUuid)
        return { status: 200, body: sizedBody(unread, res, summaries.map(exampleSummaryBody)) }
      }
      const items = async function* () {
        for await (const example of examples.list(workspaceId, projectId, documentUuid)) yield exampleBody(example)
      }
      const list = { items, bodyOf: (all: Example[]) => all, hasLargeItems: true }
      return { status: 200, body: await itemList(unread, { res, apiKeyId }, list) }
    },
    create: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 201, bodyOf: exampleBody }, (own) =>
        createExample(own, { ...body, caller: callerOf(res), projectId: pathId(params.projectId, 'unknown-project') }),
      ),
    batch: async ({ params, body, req, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const bodyOf = (counts: ChangedExamples) => counts
      const answer = await onlyOnce(deps, { req, res, status: 200, bodyOf }, (own) =>
        changeExamples(own, { ...body, caller: callerOf(res), projectId }),
      )
      // Answers of changed rows may have to be scored again.
      deps.experiments.loop.wake()
      return answer
    },
    fromRuns: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200, bodyOf: savedRunsBody }, (own) =>
        saveRuns(own, { ...body, caller: callerOf(res), projectId: pathId(params.projectId, 'unknown-project') }),
      ),
    update: async ({ params: { exampleUuid, ...params }, body, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const example = await updateExample(deps, { ...body, caller: callerOf(res), projectId, exampleUuid })
      deps.experiments.loop.wake()
      return { status: 200, body: exampleBody(example) }
    },
    delete: async ({ params: { exampleUuid, ...params }, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const uuid = await deleteExample(deps, { caller: callerOf(res), projectId, exampleUuid })
      return { status: 200, body: { uuid } }
    },
  }
}
