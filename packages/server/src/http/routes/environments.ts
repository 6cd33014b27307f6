import type { contract } from '@stet/contract'
import { listReleases } from '../../features/releases/read-releases.ts'
import { rollBack } from '../../features/releases/roll-back.ts'
import { releaseBody, rollbackBody } from '../../wire/release.ts'
import { callerOf } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'

export function environmentRoutes(deps: HttpDeps): Routes<typeof contract.environments> {
  return {
    releases: async ({ params: { projectId: id, environment }, query, res }) => {
      const projectId = pathId(id, 'unknown-project')
      const page = await listReleases(deps, { ...query, caller: callerOf(res), projectId, environment })
      return { status: 200, body: { ...page, items: page.items.map(releaseBody) } }
    },
    rollback: async ({ params: { projectId: id, environment }, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200, bodyOf: rollbackBody }, (own) =>
        rollBack(own, { ...body, caller: callerOf(res), projectId: pathId(id, 'unknown-project'), environment }),
      ),
  }
}
