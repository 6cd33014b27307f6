import type { contract } from '@stet/contract'
import type { RevertResult, UpdateResult, VersionDiff } from '@stet/contract/vocabulary'
import { requireScope } from '../../features/access/api-key.ts'
import { readVersionRef } from '../../features/documents/version-ref.ts'
import { readChecks } from '../../features/versions/check-release.ts'
import { createVersion } from '../../features/versions/create-version.ts'
import { diffVersions } from '../../features/versions/diff-versions.ts'
import { deleteDraft, restoreDraft, updateDraft } from '../../features/versions/drafts/change-draft.ts'
import { updateFromEnvironment } from '../../features/versions/drafts/update-from-environment.ts'
import { importVersion } from '../../features/versions/import-version.ts'
import { publishVersion } from '../../features/versions/publish-version.ts'
import { pushChanges } from '../../features/versions/push/push-changes.ts'
import { readTree } from '../../features/versions/read-tree.ts'
import { listVersions, readVersion } from '../../features/versions/read-versions.ts'
import { revertDraft } from '../../features/versions/revert-draft.ts'
import { treeItemBody } from '../../wire/document.ts'
import { createdVersionBody, pushBody, versionBody } from '../../wire/version.ts'

import { callerOf, whileOpen } from '../auth/request-context.ts'
import { pathId, revisionAddress, versionAddress } from '../body/address.ts'
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
      onlyOnce(deps, { req, res, status: 200, bodyOf: createdVersionBody }, (own) => {
        const caller = callerOf(res)
        if (body.publish) requireScope(caller, ['publish'])
        if (body.publish?.override?.length) requireScope(caller, ['admin'])
        const projectId = pathId(params.projectId, 'unknown-project')
        return createVersion(own, { ...body, caller, projectId, signal: whileOpen(res) })
      }),
    get: async ({ params, res }) => {
      const version = await readVersion(deps, { caller: callerOf(res), ...revisionAddress(params) })
      return { status: 200, body: versionBody(version) }
    },
    update: async ({ params, body, res }) => {
      const version = await updateDraft(deps, { ...body, caller: callerOf(res), ...versionAddress(params) })
      return { status: 200, body: versionBody(version) }
    },
    delete: async ({ params, res }) => {
      const version = await deleteDraft(deps, { caller: callerOf(res), ...versionAddress(params) })
      return { status: 200, body: versionBody(version) }
    },
    restore: async ({ params, res }) => {
      const version = await restoreDraft(deps, { caller: callerOf(res), ...versionAddress(params) })
      return { status: 200, body: versionBody(version) }
    },
    publish: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200, bodyOf: versionBody }, (own) => {
        const caller = callerOf(res)
        if (body.override?.length) requireScope(caller, ['admin'])
        return publishVersion(own, { ...body, caller, ...versionAddress(params), signal: whileOpen(res) })
      }),
    push: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200, bodyOf: pushBody }, (own) =>
        pushChanges(own, { ...body, caller: callerOf(res), ...versionAddress(params), signal: whileOpen(res) }),
      ),
    updateFromEnvironment: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200, bodyOf: (updated: UpdateResult) => updated }, (own) =>
        updateFromEnvironment(own, {
          ...body,
          caller: callerOf(res),
          ...versionAddress(params),
          signal: whileOpen(res),
        }),
      ),
    revert: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200, bodyOf: (reverted: RevertResult) => reverted }, (own) =>
        revertDraft(own, { ...body, caller: callerOf(res), ...versionAddress(params) }),
      ),
    import: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200, bodyOf: versionBody }, (own) =>
        importVersion(own, { ...body, caller: callerOf(res), ...versionAddress(params) }),
      ),
    checks: async ({ params, query, res }) => {
      const input = { ...query, caller: callerOf(res), ...versionAddress(params), signal: whileOpen(res) }
      return { status: 200, body: await readChecks(deps, input) }
    },
    tree: async ({ params, res }) => {
      const { version, items } = await readTree(deps, { caller: callerOf(res), ...revisionAddress(params) })
      return { status: 200, body: { version: versionBody(version), items: items.map(treeItemBody) } }
    },
    diff: async ({ params, query, res }) => {
      const caller = callerOf(res)
      const against = query.base === undefined ? {} : { base: readVersionRef(query.base) }
      const { base, head, changes } = await diffVersions(deps, { ...against, caller, ...revisionAddress(params) })
      const list = { items: changes, bodyOf: (all: VersionDiff['changes']) => ({ base, head, changes: all }) }
      return { status: 200, body: await itemList(unread, { res, apiKeyId: caller.apiKeyId }, list) }
    },
  }
}
