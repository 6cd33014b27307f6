import type { contract } from '@stet/contract'
import { findProject } from '../../features/documents/version-ref.ts'
import { createExample, deleteExample, updateExample } from '../../features/examples/save-example.ts'
import { readUuid } from '../../shared/text-guards.ts'
import { exampleBody } from '../../wire/document.ts'
import { callerOf } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { sizedBody } from '../raw-response.ts'

export function exampleRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.examples> {
  return {
    list: async ({ params, query, res }) => {
      const caller = callerOf(res)
      await unread.reserve(res, caller.apiKeyId)
      const projectId = pathId(params.projectId, 'unknown-project')
      await findProject(deps, caller, projectId)
      const documentUuid = readUuid(query.documentUuid)
      const examples = documentUuid ? await deps.stores.examples.list(caller.workspaceId, projectId, documentUuid) : []
      return { status: 200, body: sizedBody(unread, res, examples.map(exampleBody)) }
    },
    create: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 201, bodyOf: exampleBody }, (own) =>
        createExample(own, { ...body, caller: callerOf(res), projectId: pathId(params.projectId, 'unknown-project') }),
      ),
    update: async ({ params: { exampleUuid, ...params }, body, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const example = await updateExample(deps, { ...body, caller: callerOf(res), projectId, exampleUuid })
      return { status: 200, body: exampleBody(example) }
    },
    delete: async ({ params: { exampleUuid, ...params }, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const uuid = await deleteExample(deps, { caller: callerOf(res), projectId, exampleUuid })
      return { status: 200, body: { uuid } }
    },
  }
}
