import type { contract } from '@stet/contract'
import { findProject, resolveVersion } from '../../features/documents/version-ref.ts'
import { createVersion } from '../../features/versions/create-version.ts'
import { diffVersions } from '../../features/versions/diff-versions.ts'
import { importVersion } from '../../features/versions/import-version.ts'
import { publishVersion } from '../../features/versions/publish-version.ts'
import { pushChanges } from '../../features/versions/push-changes.ts'
import { revertDraft } from '../../features/versions/revert-draft.ts'
import { pushBody, versionBody } from '../../wire/project.ts'
import { callerOf, whileOpen } from '../auth/request-context.ts'
import { pathId, versionAddress } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'

export function versionRoutes(deps: HttpDeps): Routes<typeof contract.versions> {
  return {
    list: async ({ params, query, res }) => {
      const caller = callerOf(res)
      const { id } = await findProject(deps, caller, pathId(params.projectId, 'unknown-project'))
      const versions = await deps.stores.versions.list(caller.workspaceId, id, query.status)
      return { status: 200, body: versions.map(versionBody) }
    },
    create: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, async (own) => {
        const projectId = pathId(params.projectId, 'unknown-project')
        return versionBody(await createVersion(own, { ...body, caller: callerOf(res), projectId }))
      }),
    get: async ({ params, res }) => {
      const { version } = await resolveVersion(deps, { caller: callerOf(res), ...versionAddress(params) })
      return { status: 200, body: versionBody(version) }
    },
    publish: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, async (own) => {
        const address = { caller: callerOf(res), ...versionAddress(params), signal: whileOpen(res) }
        return versionBody(await publishVersion(own, { ...body, ...address }))
      }),
    push: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, async (own) =>
        pushBody(await pushChanges(own, { ...body, caller: callerOf(res), ...versionAddress(params) })),
      ),
    revert: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, (own) =>
        revertDraft(own, { ...body, caller: callerOf(res), ...versionAddress(params) }),
      ),
    import: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, async (own) =>
        versionBody(await importVersion(own, { ...body, caller: callerOf(res), ...versionAddress(params) })),
      ),
    diff: async ({ params, query, res }) => ({
      status: 200,
      body: await diffVersions(deps, { ...query, caller: callerOf(res), ...versionAddress(params) }),
    }),
  }
}
