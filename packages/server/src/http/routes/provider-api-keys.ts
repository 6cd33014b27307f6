import type { contract } from '@stet/contract'
import { knownModelsOf, listPricedProviders, listProviderKeys } from '../../features/providers/list-providers.ts'
import { createProviderKey, deleteProviderKey, updateProviderKey } from '../../features/providers/save-provider-key.ts'
import { testProviderKey } from '../../features/providers/test-provider-key.ts'
import { refuse } from '../../shared/app-error.ts'
import { providerBody, providerKeyBody, providerTestBody } from '../../wire/provider-key.ts'
import { callerOf, whileOpen } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'

export function providerKeyRoutes(deps: HttpDeps): Routes<typeof contract.providerApiKeys> {
  return {
    list: async ({ res }) => {
      const keys = await listProviderKeys(deps, { workspaceId: callerOf(res).workspaceId })
      return { status: 200, body: keys.map(providerKeyBody) }
    },
    create: async ({ body, req, res }) =>
      onlyOnce(deps, { req, res, status: 201, bodyOf: providerKeyBody }, (own) => {
        const { workspaceId, apiKeyId } = callerOf(res)
        return createProviderKey(own, { ...body, workspaceId, apiKeyId })
      }),
    get: async ({ params, res }) => {
      const key = await deps.stores.providerKeys.findOptional(callerOf(res).workspaceId, entryId(params.id))
      if (!key) throw refuse('unknown-provider-key')
      return { status: 200, body: providerKeyBody(key) }
    },
    update: async ({ params, body, res }) => {
      const { workspaceId, apiKeyId } = callerOf(res)
      const key = await updateProviderKey(deps, { ...body, workspaceId, apiKeyId, id: entryId(params.id) })
      return { status: 200, body: providerKeyBody(key) }
    },
    delete: async ({ params, res }) => {
      const { workspaceId, apiKeyId } = callerOf(res)
      const key = await deleteProviderKey(deps, { workspaceId, apiKeyId, id: entryId(params.id) })
      return { status: 200, body: providerKeyBody(key) }
    },
    test: async ({ body, res }) => {
      const { workspaceId, apiKeyId } = callerOf(res)
      const tested = await testProviderKey(deps, { ...body, workspaceId, apiKeyId, signal: whileOpen(res) })
      return { status: 200, body: providerTestBody(tested) }
    },
  }
}

export function providerRoutes(deps: HttpDeps): Routes<typeof contract.providers> {
  return {
    list: async ({ query: { modelsOf }, res }) => {
      const { workspaceId } = callerOf(res)
      const providers = modelsOf ? [knownModelsOf(deps, modelsOf)] : await listPricedProviders(deps, { workspaceId })
      return { status: 200, body: providers.map(providerBody) }
    },
  }
}

// Lists show providers from the environment with id 0. The use cases refuse to change a provider with this id.
function entryId(text: string): number {
  return text === '0' ? 0 : pathId(text, 'unknown-provider-key')
}
