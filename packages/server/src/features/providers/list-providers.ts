/** The providers that the prompts of a workspace can name. A stored key hides a provider of the environment. */
import type { Needs } from '../deps.ts'
import type { ProviderSettings } from './model-driver.ts'
import { type ListedProviderKey, maskToken, type ProviderKey, providerNameKey } from './provider-key.ts'

export interface ProviderEntry {
  name: string
  kind: string
  defaultModel: string | null
  isDemo: boolean
  /** A stored key, whose token is sealed, or the settings of a provider that is not stored. */
  key: ProviderKey | ProviderSettings
  /** Differs for everything that calls depend on. */
  revision: string
}

/** Costs no statement when warm. */
export function listProviders(
  deps: Needs<'stores' | 'liveCache' | 'providers'>,
  workspaceId: number,
): Promise<readonly ProviderEntry[]> {
  return deps.liveCache.read(workspaceScope(workspaceId), listKey, async () => {
    const { stored, others } = await loadProviders(deps, workspaceId)
    return [...stored.map(storedEntry), ...others.map(environmentEntry)]
  })
}

/** For display, ordered by name. */
export async function listProviderKeys(
  deps: Needs<'stores' | 'providers'>,
  input: { workspaceId: number },
): Promise<ListedProviderKey[]> {
  const { stored, others } = await loadProviders(deps, input.workspaceId)
  const { since } = deps.providers.environment
  const shown = others.map((provider) => ({
    id: 0,
    name: provider.name,
    provider: provider.kind,
    maskedToken: maskToken(provider.token),
    url: provider.url,
    defaultModel: provider.defaultModel,
    configuration: provider.configuration,
    createdAt: since,
    updatedAt: since,
    lastUsedAt: null,
  }))
  return [...stored, ...shown].sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0))
}

async function loadProviders(deps: Needs<'stores' | 'providers'>, workspaceId: number) {
  const stored = await deps.stores.providerKeys.list(workspaceId)
  const taken = new Set(stored.map((key) => providerNameKey(key.name)))
  const others = deps.providers.environment.list().filter(({ name }) => !taken.has(providerNameKey(name)))
  return { stored, others }
}

const listKey = 'providers'

/** The cache scope that every write of a provider key invalidates. */
export function workspaceScope(workspaceId: number): string {
  return `workspace:${workspaceId}`
}

function storedEntry(key: ProviderKey): ProviderEntry {
  const { id, name, provider, defaultModel, sealedToken, url, configuration } = key
  const revision = JSON.stringify([id, name, sealedToken, url, configuration])
  return { name, kind: provider, defaultModel, isDemo: false, key, revision }
}

function environmentEntry(provider: ProviderSettings): ProviderEntry {
  const { name, kind, defaultModel, isDemo } = provider
  return { name, kind, defaultModel, isDemo, key: provider, revision: name }
}
