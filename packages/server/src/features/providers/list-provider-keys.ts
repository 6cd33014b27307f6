/** Lists what prompts can name as provider: stored entries, and those that need no row unless a stored one hides them. */
import type { Needs } from '../deps.ts'
import { type ListedProviderKey, maskToken, providerNameKey } from './provider-key.ts'

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
