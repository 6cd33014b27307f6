import type { contract } from '@stet/contract'
import type { VersionDiff } from '@stet/contract/vocabulary'
import { NEW_DRAFT } from '../../features/projects/project.ts'
import { createVersion } from '../../features/versions/create-version.ts'
import { diffVersions } from '../../features/versions/diff-versions.ts'
import { importVersion } from '../../features/versions/import-version.ts'
import { publishVersion } from '../../features/versions/publish-version.ts'
import { pushChanges } from '../../features/versions/push-changes.ts'
import { readTree } from '../../features/versions/read-tree.ts'
import { listVersions, readVersion } from '../../features/versions/read-versions.ts'
import { revertDraft } from '../../features/versions/revert-draft.ts'
import { updateFromEnvironment } from '../../features/versions/update-from-environment.ts'
import { pushBody, versionBody } from '../../wire/project.ts'
import { treeItemBody } from '../../wire/tree.ts'
import { callerOf, whileOpen } from '../auth/request-context.ts'
import { pathId, versionAddress } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { itemList } from '../raw-response.ts'

export function versionRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.versions> {
  return {
    list: async ({ params, query, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const versions = await listVersions(deps, { ...query, caller: callerOf(res), projectId })
      return { status: 200, body: versions.map(versionBody) }
    },
    create: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, async (own) => {
        const projectId = pathId(params.projectId, 'unknown-project')
        const draft = await createVersion(own, { ...body, caller: callerOf(res), projectId })
        return versionBody({ ...draft, ...NEW_DRAFT })
      }),
    get: async ({ params, res }) => {
      const version = await readVersion(deps, { caller: callerOf(res), ...versionAddress(params) })
      return { status: 200, body: versionBody(version) }
    },
    publish: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, async (own) => {
        const address = { caller: callerOf(res), ...versionAddress(params), signal: whileOpen(res) }
        return versionBody(await publishVersion(own, { ...body, ...address }))
      }),
    push: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, async (own) =>
        pushBody(
          await pushChanges(own, { ...body, caller: callerOf(res), ...versionAddress(params), signal: whileOpen(res) }),
        ),
      ),
    updateFromEnvironment: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, (own) =>
        updateFromEnvironment(own, {
          ...body,
          caller: callerOf(res),
          ...versionAddress(params),
          signal: whileOpen(res),
        }),
      ),
    revert: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, (own) =>
        revertDraft(own, { ...body, caller: callerOf(res), ...versionAddress(params) }),
      ),
    import: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, async (own) =>
        versionBody(await importVersion(own, { ...body, caller: callerOf(res), ...versionAddress(params) })),
      ),
    tree: async ({ params, res }) => {
      const { version, items } = await readTree(deps, { caller: callerOf(res), ...versionAddress(params) })
      return { status: 200, body: { version: versionBody(version), items: items.map(treeItemBody) } }
    },
    diff: async ({ params, query, res }) => {
      const caller = callerOf(res)
      const { base, head, changes } = await diffVersions(deps, { ...query, caller, ...versionAddress(params) })
      const list = { items: changes, bodyOf: (all: VersionDiff['changes']) => ({ base, head, changes: all }) }
      return { status: 200, body: await itemList(unread, { res, apiKeyId: caller.apiKeyId }, list) }
    },
  }
}
