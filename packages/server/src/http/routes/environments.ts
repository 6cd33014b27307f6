import type { contract } from '@stet/contract'
import { findProject } from '../../features/documents/version-ref.ts'
import { assertEnvironment, rollBack } from '../../features/releases/roll-back.ts'
import { releaseBody, rollbackBody } from '../../wire/version.ts'
import { callerOf } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'

/** Each project has one environment, `live`. */
export function environmentRoutes(deps: HttpDeps): Routes<typeof contract.environments> {
  return {
    releases: async ({ params, query, res }) => {
      const caller = callerOf(res)
      const { id } = await findProject(deps, caller, pathId(params.projectId, 'unknown-project'))
      assertEnvironment(params.environment)
      const { items, nextCursor } = await deps.stores.releases.list(caller.workspaceId, id, query)
      return { status: 200, body: { items: items.map(releaseBody), nextCursor } }
    },
    rollback: async ({ params: { projectId: id, environment }, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200, bodyOf: rollbackBody }, (own) =>
        rollBack(own, { ...body, caller: callerOf(res), projectId: pathId(id, 'unknown-project'), environment }),
      ),
  }
}
