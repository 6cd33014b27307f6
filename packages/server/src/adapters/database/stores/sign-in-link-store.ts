import type { SignInLinkStore } from '../../../features/sessions/ports.ts'
import type { DatabaseClient } from '../database.ts'

const shown = { workspaceId: true, apiKeyId: true, expiresAt: true, usedAt: true } as const

export function postgresSignInLinkStore(client: DatabaseClient): SignInLinkStore {
  return {
    async create(workspaceId, input) {
      await client.signInLink.create({ data: { ...input, workspaceId } })
    },
    findByCode: (codeHash) => client.signInLink.findUnique({ where: { codeHash }, select: shown }),
    async use(codeHash, at) {
      // One `UPDATE … RETURNING`: PostgreSQL checks `usedAt` again after it has waited for a parallel update.
      const [link] = await client.signInLink.updateManyAndReturn({
        where: { codeHash, usedAt: null, expiresAt: { gt: at } },
        data: { usedAt: at },
        select: shown,
      })
      return link ?? null
    },
    async deleteExpired(workspaceId, at) {
      await client.signInLink.deleteMany({ where: { workspaceId, expiresAt: { lte: at } } })
    },
  }
}
