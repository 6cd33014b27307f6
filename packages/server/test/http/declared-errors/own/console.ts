import { expect } from 'vitest'
import { type Scenario, to } from '../scenario.ts'
import type { World } from '../world.ts'

/** Asks for a link of another key. */
const link = (world: World, apiKeyId: number, key?: string) =>
  to('console.createLink', world, { body: { apiKeyId }, ...(key !== undefined && { key }) })

export const consoleCauses: Record<string, Scenario> = {
  // Without the mark of the console, a page of another site could have sent the request.
  'console.signIn no-key': (world) =>
    to('console.signIn', world, { body: { apiKey: 'x' }, headers: { 'x-stet-console': '0' } }),
  'console.signIn sign-in-refused': (world) => to('console.signIn', world, { body: { code: 'A'.repeat(43) } }),
  'console.signIn rate-limited': async (world) => {
    const body = { apiKey: await world.keyWith({ plan: 'custom', limit: 1 }) }
    // The rate-limit window may end between two requests, so this tries several times.
    for (;;) {
      const answers = await Promise.all([1, 2, 3].map(() => to('console.signIn', world, { body })))
      const limited = answers.find(({ status }) => status === 429)
      if (limited) return limited
    }
  },
  'console.createLink missing-scope': async (world) => {
    const { id } = await world.newApiKey()
    return link(world, id, await world.keyWith({ scopes: ['read'] }))
  },
  'console.createLink restricted-key': async (world) => {
    const { id } = await world.newApiKey()
    return link(world, id, await world.restrictedKey())
  },
  'console.createLink unknown-api-key': (world) => link(world, 2_000_000_000),
  'console.createLink revoked-key': async (world) => {
    const { id } = await world.newApiKey()
    await to('apiKeys.revoke', world, { ids: { id: String(id) } })
    return link(world, id)
  },
  'console.createLink expired-key': async (world) => {
    const { id, key } = await world.newApiKey()
    await to('apiKeys.rotate', world, { ids: { id: String(id) }, body: { overlapSeconds: 1 } })
    await expect.poll(async () => (await world.bench.api('GET', '/me', { key })).status).toBe(401)
    return link(world, id)
  },
}
