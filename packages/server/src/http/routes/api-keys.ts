import type { contract } from '@stet/contract'
import type { IssuedApiKey } from '../../features/access/api-key.ts'
import { issueApiKey, revokeApiKey, rotateApiKey } from '../../features/access/change-api-keys.ts'
import { refuse } from '../../shared/app-error.ts'
import { apiKeyBody } from '../../wire/api-key.ts'
import { callerOf } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'

export function apiKeyRoutes(deps: HttpDeps): Routes<typeof contract.apiKeys> {
  return {
    me: async ({ res }) => {
      const { workspaceId, apiKeyId } = callerOf(res)
      const [apiKey, workspace] = await Promise.all([
        deps.stores.apiKeys.findOptional(workspaceId, apiKeyId),
        deps.stores.workspaces.find(workspaceId),
      ])
      if (!apiKey) throw refuse('unknown-api-key')
      return {
        status: 200,
        body: {
          apiKey: apiKeyBody(apiKey),
          workspace: { id: workspace.id, name: workspace.name },
          rateLimit: { limit: apiKey.limit, windowSeconds: 1 },
          features: [...deps.settings.features],
        },
      }
    },
    list: async ({ res }) => {
      const keys = await deps.stores.apiKeys.list(callerOf(res).workspaceId)
      return { status: 200, body: keys.map(apiKeyBody) }
    },
    create: async ({ body, req, res }) =>
      onlyOnce(deps, { req, res, status: 201, ...ofNewKey }, (own) => {
        const expiresAt = body.expiresAt === undefined ? undefined : new Date(body.expiresAt)
        return issueApiKey(own, { ...body, caller: callerOf(res), expiresAt })
      }),
    rotate: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 201, ...ofNewKey }, (own) =>
        rotateApiKey(own, { ...body, caller: callerOf(res), id: pathId(params.id, 'unknown-api-key') }),
      ),
    revoke: async ({ params, res }) => {
      const apiKey = await revokeApiKey(deps, { caller: callerOf(res), id: pathId(params.id, 'unknown-api-key') })
      return { status: 200, body: apiKeyBody(apiKey) }
    },
  }
}

const ofNewKey = {
  bodyOf: ({ apiKey, key }: IssuedApiKey) => ({ ...apiKeyBody(apiKey), key }),
  subjectOf: ({ apiKey: { projectId } }: IssuedApiKey) => (projectId === null ? {} : { projectId }),
}
