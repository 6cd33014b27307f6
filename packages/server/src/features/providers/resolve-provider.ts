/** Makes a provider key ready for calls, once until the key changes. */
import type { LRUCache } from 'lru-cache'
import { RunError } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { ProviderEntry } from './list-providers.ts'
import type { ModelDriver, ProviderSettings } from './model-driver.ts'
import type { ModelPrices } from './ports.ts'
import { type ProviderKey, tokenContext } from './provider-key.ts'

export interface ResolvedProvider {
  name: string
  kind: string
  driver: ModelDriver
  prices: ModelPrices
}

/** By the revision of the entry, so that a changed key is never found. */
export type ResolvedProviders = LRUCache<string, { provider: ResolvedProvider; notedUseAt: number }>

const noteUseEveryMs = 60_000

/** @throws RunError `ai_provider_config_error` for a token that cannot be opened and for unusable settings. */
export function resolveProvider(
  deps: Needs<'stores' | 'resolvedProviders' | 'models' | 'prices' | 'secrets' | 'clock' | 'log'>,
  entry: ProviderEntry,
): ResolvedProvider {
  const kept = deps.resolvedProviders.get(entry.revision) ?? { provider: buildProvider(deps, entry), notedUseAt: 0 }
  deps.resolvedProviders.set(entry.revision, kept)
  const now = deps.clock.now()
  if ('sealedToken' in entry.key && now.getTime() - kept.notedUseAt >= noteUseEveryMs) {
    kept.notedUseAt = now.getTime()
    noteUse(deps, entry.key, now)
  }
  return kept.provider
}

function buildProvider(
  deps: Needs<'models' | 'prices' | 'secrets' | 'log'>,
  { key, name, kind }: ProviderEntry,
): ResolvedProvider {
  const settings = 'sealedToken' in key ? openProviderKey(deps, key) : key
  return { name, kind, driver: deps.models.driverFor(settings), prices: deps.prices.pricesOf(settings) }
}

/** @throws RunError `ai_provider_config_error` */
export function openProviderKey(deps: Needs<'secrets' | 'log'>, key: ProviderKey): ProviderSettings {
  const { name, provider: kind, url, defaultModel, configuration } = key
  try {
    const token = deps.secrets.open(key.sealedToken, tokenContext(key.workspaceId, key.id))
    return { name, kind, isDemo: false, token, url, defaultModel, configuration, trustedAddress: false }
  } catch (cause) {
    deps.log.error('provider-key.unreadable', { workspaceId: key.workspaceId, providerKeyId: key.id })
    const message = `The token of provider '${name}' cannot be read; store it again`
    throw new RunError('ai_provider_config_error', message, { details: { provider: name }, cause })
  }
}

/** Not awaited: `lastUsedAt` is information, and a failure must not affect the call. */
function noteUse(deps: Needs<'stores' | 'log'>, key: ProviderKey, at: Date): void {
  deps.stores.providerKeys
    .touch(key.workspaceId, key.id, at)
    .catch(() => deps.log.warn('provider-key.touch-failed', { providerKeyId: key.id }))
}
