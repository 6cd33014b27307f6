import { expect } from 'vitest'
import { type Scenario, to } from '../scenario.ts'
import { newName } from '../world.ts'

export const keyCauses: Record<string, Scenario> = {
  'apiKeys.create unknown-project': (world) =>
    to('apiKeys.create', world, { body: { name: 'x', projectId: 2_000_000_000 } }),
  'apiKeys.rotate revoked-key': async (world) => {
    const ids = { id: String((await world.newApiKey()).id) }
    await to('apiKeys.revoke', world, { ids })
    return to('apiKeys.rotate', world, { ids, body: {} })
  },
  'apiKeys.rotate expired-key': async (world) => {
    const { id, key } = await world.newApiKey()
    const ids = { id: String(id) }
    // The server sets the expiry, because a time from this process may have passed on arrival.
    await to('apiKeys.rotate', world, { ids, body: { overlapSeconds: 1 } })
    await expect.poll(async () => (await world.bench.api('GET', '/me', { key })).status).toBe(401)
    return to('apiKeys.rotate', world, { ids, body: {} })
  },
  'apiKeys.revoke last-admin-key': async (world) => {
    const { body } = await world.bench.api('GET', '/api-keys')
    const keys = body as unknown as { id: number; scopes: string[]; revokedAt: string | null }[]
    const own = (await world.bench.api('GET', '/me')).body['apiKey'] as { id: number }
    for (const { id, scopes, revokedAt } of keys) {
      if (id !== own.id && scopes.includes('admin') && revokedAt === null) {
        await to('apiKeys.revoke', world, { ids: { id: String(id) } })
      }
    }
    return to('apiKeys.revoke', world, { ids: { id: String(own.id) } })
  },
  'providerApiKeys.create name-taken': async (world) => {
    const { name } = await world.newProviderKey()
    const body = { name: name.toUpperCase(), provider: 'openai', token: 'sk-0123456789abcdef' }
    return to('providerApiKeys.create', world, { body })
  },
  'providerApiKeys.update name-taken': async (world) => {
    const [one, two] = [await world.newProviderKey(), await world.newProviderKey()]
    return to('providerApiKeys.update', world, { ids: { id: String(one.id) }, body: { name: two.name } })
  },
  'providerApiKeys.test unknown-provider-key': (world) =>
    to('providerApiKeys.test', world, { body: { name: newName() } }),
  'providerApiKeys.update built-in-provider-key': (world) =>
    to('providerApiKeys.update', world, { ids: { id: '0' }, body: { name: 'x' } }),
  'providerApiKeys.delete built-in-provider-key': (world) => to('providerApiKeys.delete', world, { ids: { id: '0' } }),
}
