/** Makes a provider key ready for calls, once until the key changes. */

import { RunError } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { ProviderEntry } from './list-providers.ts'
import type { ProviderSettings } from './model-driver.ts'
import type { ResolvedProvider } from './ports.ts'
import { type ProviderKey, tokenContext } from './provider-key.ts'

const noteUseEveryMs = 60_000

/** @throws RunError `ai_provider_config_error` for a token that cannot be opened and for unusable settings. */
export function resolveProvider(
  deps: Needs<'stores' | 'providers' | 'secrets' | 'clock' | 'logger'>,
  entry: ProviderEntry,
): ResolvedProvider {
  const kept = deps.providers.resolved.get(entry.revision) ?? { provider: buildProvider(deps, entry), notedUseAt: 0 }
  deps.providers.resolved.set(entry.revision, kept)
  const now = deps.clock.now()
  if ('sealedToken' in entry.key && now.getTime() - kept.notedUseAt >= noteUseEveryMs) {
    kept.notedUseAt = now.getTime()
    noteUse(deps, entry.key, now)
  }
  return kept.provider
}

function buildProvider(
  deps: Needs<'providers' | 'secrets' | 'logger'>,
  { key, name, kind }: ProviderEntry,
): ResolvedProvider {
  const settings = 'sealedToken' in key ? openProviderKey(deps, key) : key
  return {
    name,
    kind,
    driver: deps.providers.drivers.driverFor(settings),
    prices: deps.providers.prices.pricesOf(settings),
  }
}

/** @throws RunError `ai_provider_config_error` */
export function openProviderKey(deps: Needs<'secrets' | 'logger'>, key: ProviderKey): ProviderSettings {
  const { name, provider: kind, url, defaultModel, configuration } = key
  try {
    const token = deps.secrets.open(key.sealedToken, tokenContext(key.workspaceId, key.id))
    return { name, kind, isDemo: false, token, url, defaultModel, configuration, trustedAddress: false }
  } catch (cause) {
    deps.logger.error('provider-key.unreadable', { workspaceId: key.workspaceId, providerKeyId: key.id })
    const message = `The token of provider '${name}' cannot be read; store it again`
    throw new RunError('ai_provider_config_error', message, { details: { provider: name }, cause })
  }
}

/** Not awaited: `lastUsedAt` is information, and a failure must not affect the call. */
function noteUse(deps: Needs<'stores' | 'logger'>, key: ProviderKey, at: Date): void {
  deps.stores.providerKeys
    .touch(key.workspaceId, key.id, at)
    .catch(() => deps.logger.warn('provider-key.touch-failed', { providerKeyId: key.id }))
}
