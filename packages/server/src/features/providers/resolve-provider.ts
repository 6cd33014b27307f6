import { defined } from '@stet/template/defined'
import { RunError } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { ProviderEntry } from './list-providers.ts'
import type { ProviderSettings } from './model-driver.ts'
import type { ResolvedProvider } from './ports.ts'
import { type ProviderKey, providerNameKey, tokenContext } from './provider-key.ts'

export interface Choice {
  path?: string
  named?: string | undefined
  projectDefault?: string | null | undefined
  serverDefault?: string | undefined
}

/** Prefers an exact match. Otherwise returns the match regardless of case, if there is exactly one. */
export function matchProvider(entries: readonly ProviderEntry[], name: string): ProviderEntry | undefined {
  for (const entry of entries) if (entry.name === name) return entry
  const key = providerNameKey(name)
  const similar = entries.filter((entry) => providerNameKey(entry.name) === key)
  return similar.length === 1 ? similar[0] : undefined
}

/**
 * Without a name, returns the only provider other than `demo`, or `demo` if there is no other provider.
 * @throws RunError `missing_provider_error` for an unknown name; `document_config_error` if there is no name and no
 * single provider.
 */
export function chooseProvider(entries: readonly ProviderEntry[], choice: Choice): ProviderEntry {
  const wanted = choice.named ?? choice.projectDefault ?? choice.serverDefault
  if (wanted !== undefined) {
    const entry = matchProvider(entries, wanted)
    if (entry) return entry
    const configured = entries.map(({ name }) => name)
    const message = `Provider '${wanted}' is not configured (configured: ${configured.join(', ') || 'none'})`
    throw new RunError('missing_provider_error', message, { details: { provider: wanted, configured } })
  }
  const usable = entries.filter((entry) => !entry.isDemo)
  const only = usable.length === 0 ? entries[0] : usable[0]
  if (only && usable.length <= 1) return only
  throw noDefault('provider', choice)
}

/** @throws RunError `document_config_error` if no default model exists and the prompt names none. */
export function chooseModel(entry: ProviderEntry, choice: Choice): string {
  const model = choice.named ?? choice.projectDefault ?? entry.defaultModel ?? choice.serverDefault
  if (model !== undefined) return model
  throw noDefault('model', choice)
}

function noDefault(key: 'provider' | 'model', { path }: Choice): RunError {
  return new RunError('document_config_error', `The prompt names no ${key} and there is no default`, {
    details: defined({ key, path }),
  })
}

const noteUseEveryMs = 60_000

/** @throws RunError `ai_provider_config_error` for an unreadable token or unusable settings. */
export function resolveProvider(
  deps: Needs<'stores' | 'providers' | 'secrets' | 'clock' | 'logger'>,
  entry: ProviderEntry,
): ResolvedProvider {
  const kept = deps.providers.resolved.get(entry.revision) ?? { provider: buildProvider(deps, entry), notedUseAt: 0 }
  deps.providers.resolved.set(entry.revision, kept)
  const now = deps.clock.now()
  if (!('sealedToken' in entry.key)) deps.providers.environment.usedAt.set(entry.name, now)
  else if (now.getTime() - kept.notedUseAt >= noteUseEveryMs) {
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
    isDemo: settings.isDemo,
    driver: deps.providers.drivers.driverFor(settings),
    prices: deps.providers.prices.pricesOf(settings),
  }
}

/** @throws RunError `ai_provider_config_error` for a token that cannot be decrypted. */
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

/** Does not wait for the write: `lastUsedAt` is informational, and a failure must not affect the model call. */
function noteUse(deps: Needs<'stores' | 'logger'>, key: ProviderKey, at: Date): void {
  deps.stores.providerKeys
    .touch(key.workspaceId, key.id, at)
    .catch(() => deps.logger.warn('provider-key.touch-failed', { providerKeyId: key.id }))
}
