/** The providers that the prompts of a workspace can name; tokens are opened only on use. */
import { RunError } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { ResolvedProvider } from './model-driver.ts'
import { type ListedProviderKey, maskToken, type ProviderKey, providerNameKey, tokenContext } from './provider-key.ts'

type ListDeps = Needs<'stores' | 'liveCache' | 'environmentProviders' | 'secrets' | 'clock' | 'log'>

export interface ProviderEntry {
  name: string
  kind: string
  defaultModel: string | null
  isDemo: boolean
  /**
   * The entry with its clear token, the same object until the entry changes.
   * @throws RunError `ai_provider_config_error` when the token cannot be opened.
   */
  open(): ResolvedProvider
}

/** The same array until an entry of the workspace changes. Costs no statement when warm. */
export function listProviders(deps: ListDeps, workspaceId: number): Promise<readonly ProviderEntry[]> {
  return deps.liveCache.read(workspaceScope(workspaceId), listKey, async () => {
    const stored = await deps.stores.providerKeys.list(workspaceId)
    const taken = new Set(stored.map((key) => providerNameKey(key.name)))
    const others = deps.environmentProviders.list().filter((entry) => !taken.has(providerNameKey(entry.name)))
    return [...stored.map((key) => storedEntry(deps, key)), ...others.map(environmentEntry)]
  })
}

/** The list, when it is in memory. */
export function recallProviders(deps: Needs<'liveCache'>, workspaceId: number): readonly ProviderEntry[] | undefined {
  return deps.liveCache.recall(workspaceScope(workspaceId), listKey)
}

const listKey = 'providers'

function workspaceScope(workspaceId: number): string {
  return `workspace:${workspaceId}`
}

function environmentEntry(provider: ResolvedProvider): ProviderEntry {
  const { name, kind, defaultModel } = provider
  return { name, kind, defaultModel, isDemo: provider.driver === 'demo', open: () => provider }
}

function storedEntry(deps: ListDeps, key: ProviderKey): ProviderEntry {
  let opened: ResolvedProvider | undefined
  let touchedAt = 0
  return {
    name: key.name,
    kind: key.provider,
    defaultModel: key.defaultModel,
    isDemo: false,
    open() {
      opened ??= openKey(deps, key)
      const now = deps.clock.now()
      if (now.getTime() - touchedAt >= touchEveryMs) {
        touchedAt = now.getTime()
        noteUse(deps, key, now)
      }
      return opened
    },
  }
}

const touchEveryMs = 60_000

// Nothing waits for it and nothing fails with it: `lastUsedAt` is information, the call is what matters.
function noteUse(deps: ListDeps, key: ProviderKey, at: Date): void {
  deps.stores.providerKeys
    .touch(key.workspaceId, key.id, at)
    .catch(() => deps.log.warn('provider-key.touch-failed', { providerKeyId: key.id }))
}

function openKey(deps: ListDeps, key: ProviderKey): ResolvedProvider {
  try {
    const token = deps.secrets.open(key.sealedToken, tokenContext(key.workspaceId, key.id))
    const { name, url, defaultModel, configuration } = key
    const kind = key.provider
    return { name, kind, driver: kind, token, url, defaultModel, configuration, trustedAddress: false }
  } catch (cause) {
    deps.log.error('provider-key.unreadable', { workspaceId: key.workspaceId, providerKeyId: key.id })
    const message = `The token of provider '${key.name}' cannot be read; store it again`
    throw new RunError('ai_provider_config_error', message, { details: { provider: key.name }, cause })
  }
}

/** By name. */
export async function listProviderKeys(
  deps: Needs<'stores' | 'environmentProviders'>,
  input: { workspaceId: number },
): Promise<ListedProviderKey[]> {
  const stored = await deps.stores.providerKeys.list(input.workspaceId)
  const taken = new Set(stored.map((key) => providerNameKey(key.name)))
  const { since } = deps.environmentProviders
  const others = deps.environmentProviders
    .list()
    .filter((entry) => !taken.has(providerNameKey(entry.name)))
    .map((entry) => ({
      id: 0,
      name: entry.name,
      provider: entry.kind,
      maskedToken: maskToken(entry.token),
      url: entry.url,
      defaultModel: entry.defaultModel,
      configuration: entry.configuration,
      createdAt: since,
      updatedAt: since,
      lastUsedAt: null,
    }))
  return [...stored, ...others].sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0))
}
