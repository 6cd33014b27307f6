/** Tells a caller which key and workspace it acts for; no secret among it. */

import { notFound } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { ApiKey } from './api-key.ts'
import type { Caller } from './caller.ts'
import type { Workspace } from './ports.ts'

export async function describeCaller(
  deps: Needs<'stores'>,
  input: { caller: Caller },
): Promise<{ apiKey: ApiKey; workspace: Workspace }> {
  const [apiKey, workspace] = await Promise.all([
    deps.stores.apiKeys.findOptional(input.caller.workspaceId, input.caller.apiKeyId),
    deps.stores.workspaces.find(input.caller.workspaceId),
  ])
  if (!apiKey) throw notFound('API key not found')
  return { apiKey, workspace }
}
