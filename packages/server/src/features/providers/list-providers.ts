/** Lists the providers of a workspace: stored keys, `openai` and `anthropic` of the environment, and the demo. */
import type { Needs } from '../deps.ts'
import type { ProviderSettings } from './model-driver.ts'
import type { EnvironmentProviders, PricedModel } from './ports.ts'
import { type ListedProviderKey, maskToken, type ProviderKey, providerNameKey } from './provider-key.ts'

export interface ProviderEntry extends Pick<ProviderSettings, 'name' | 'kind' | 'defaultModel' | 'isDemo'> {
  key: ProviderKey | ProviderSettings
  /** Cache key of the resolved provider. Changes with a stored key's name, token, URL or configuration. */
  revision: string
}

/** Runs no query if the list is cached. */
export function listProviders(
  deps: Needs<'stores' | 'liveCache' | 'providers'>,
  workspaceId: number,
): Promise<readonly ProviderEntry[]> {
  return deps.liveCache.read(workspaceScope(workspaceId), 'providers', async () => {
    const { stored, others } = await loadProviders(deps, workspaceId)
    return [...stored.map(storedEntry), ...others.map(environmentEntry)]
  })
}

export interface PricedProviderEntry extends Pick<ProviderEntry, 'name' | 'kind' | 'defaultModel' | 'isDemo'> {
  models: PricedModel[]
}

/** Lists the providers with their models, by name. */
export async function listPricedProviders(
  deps: Needs<'stores' | 'liveCache' | 'providers' | 'clock'>,
  { workspaceId }: { workspaceId: number },
): Promise<PricedProviderEntry[]> {
  const at = deps.clock.now()
  const entries = await listProviders(deps, workspaceId)
  return entries
    .map((entry) => {
      const { url, configuration } = entry.key
      return { ...entry, models: deps.providers.prices.listModels({ ...entry, url, configuration }, at) }
    })
    .sort(byName)
}

/** Describes a type of provider, as if a key without a default model were stored for it under the name of the type. */
export function knownModelsOf({ providers, clock }: Needs<'providers' | 'clock'>, kind: string): PricedProviderEntry {
  const entry = { name: kind, kind, defaultModel: null, isDemo: false }
  const models = providers.prices.listModels({ ...entry, url: null, configuration: {} }, clock.now())
  return { ...entry, models }
}

/** Returns the stored provider keys and the environment providers, ordered by name. */
export async function listProviderKeys(
  deps: Needs<'stores' | 'providers'>,
  input: { workspaceId: number },
): Promise<ListedProviderKey[]> {
  const { stored, others } = await loadProviders(deps, input.workspaceId)
  const { since, usedAt } = deps.providers.environment
  const shown = others.map(({ name, kind, token, url, defaultModel, configuration }) => {
    const times = { createdAt: since, updatedAt: since, lastUsedAt: usedAt.get(name) ?? null }
    return { id: 0, name, provider: kind, maskedToken: maskToken(token), url, defaultModel, configuration, ...times }
  })
  return [...stored, ...shown].sort(byName)
}

function byName(left: { name: string }, right: { name: string }): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0
}

async function loadProviders(deps: Needs<'stores' | 'providers'>, workspaceId: number) {
  const stored = await deps.stores.providerKeys.list(workspaceId)
  const taken = new Set(stored.map((key) => providerNameKey(key.name)))
  const others = deps.providers.environment.list.filter(({ name }) => !taken.has(providerNameKey(name)))
  return { stored, others }
}

/** Returns the cache scope that is dropped if a provider key is created, updated or deleted. */
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

interface EnvironmentSettings extends Omit<EnvironmentProviders, 'list' | 'usedAt'> {
  openaiApiKey: string | undefined
  openaiBaseUrl: string | undefined
  anthropicApiKey: string | undefined
  anthropicBaseUrl: string | undefined
  demoProvider: boolean
}

export function environmentProviders(settings: EnvironmentSettings): EnvironmentProviders {
  const { openaiApiKey, openaiBaseUrl, anthropicApiKey, anthropicBaseUrl } = settings
  const { defaultProvider, defaultModel, since } = settings
  const list: ProviderSettings[] = []
  if (openaiApiKey !== undefined) list.push(environmentProvider('openai', openaiApiKey, openaiBaseUrl))
  if (anthropicApiKey !== undefined) list.push(environmentProvider('anthropic', anthropicApiKey, anthropicBaseUrl))
  if (settings.demoProvider) {
    list.push({ ...environmentProvider('demo', '', undefined), kind: 'custom', isDemo: true, defaultModel: 'demo' })
  }
  return { list, defaultProvider, defaultModel, since, usedAt: new Map() }
}

function environmentProvider(kind: string, token: string, url: string | undefined): ProviderSettings {
  return {
    name: kind,
    kind,
    isDemo: false,
    token,
    url: url ?? null,
    defaultModel: null,
    configuration: {},
    trustedAddress: url !== undefined,
  }
}
