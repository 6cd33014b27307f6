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
    async deleteOldest(workspaceId, apiKeyId, kept) {
      const where = { workspaceId, apiKeyId }
      const order = { orderBy: { id: 'desc' }, skip: kept, select: { id: true } } as const
      const oldest = await client.signInLink.findMany({ where, ...order })
      if (oldest.length === 0) return
      await client.signInLink.deleteMany({ where: { id: { in: oldest.map(({ id }) => id) } } })
    },
    async deleteExpired(workspaceId, at) {
      await client.signInLink.deleteMany({ where: { workspaceId, expiresAt: { lte: at } } })
    },
  }
}
