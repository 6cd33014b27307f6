/** Deletes a stored provider entry and returns it; an environment entry of the same name shows again. */
import { conflict, notFound } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { ProviderKey } from './provider-key.ts'

/** @throws NotFoundError; ConflictError for entries that need no row (id 0). */
export async function deleteProviderKey(
  deps: Needs<'stores' | 'liveCache' | 'log'>,
  input: { workspaceId: number; id: number; apiKeyId: number },
): Promise<ProviderKey> {
  const { workspaceId, id } = input
  if (id === 0) throw conflict('Entries of the environment and the demo provider cannot be deleted')
  const key = await deps.stores.providerKeys.findOptional(workspaceId, id)
  if (!key) throw notFound('Provider key not found')
  await deps.stores.providerKeys.delete(workspaceId, id)
  deps.liveCache.drop(`workspace:${workspaceId}`)
  deps.log.info('audit.provider-key-deleted', { workspaceId, providerKeyId: id, by: input.apiKeyId })
  return key
}
