import type { Prisma } from '../../../../generated/prisma/client.ts'
import type { SessionStore, StoredSession } from '../../../features/sessions/ports.ts'
import type { DatabaseClient } from '../database.ts'
import { toApiKey, withAuthor } from './api-key-store.ts'

const withKey = { apiKey: { include: withAuthor } } as const

type SessionRow = Prisma.SessionGetPayload<{ include: typeof withKey }>

export function postgresSessionStore(client: DatabaseClient): SessionStore {
  return {
    async findByToken(tokenHash) {
      const row = await client.session.findUnique({ where: { tokenHash }, include: withKey })
      return row && toSession(row)
    },
    async findOptional(workspaceId, id) {
      const row = await client.session.findFirst({ where: { workspaceId, id }, include: withKey })
      return row && toSession(row)
    },
    async list(workspaceId, filter) {
      const rows = await client.session.findMany({
        where: { workspaceId, ...filter },
        include: withKey,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      })
      return rows.map(toSession)
    },
    async create(workspaceId, input) {
      const row = await client.session.create({
        data: { ...input, workspaceId, lastSeenAt: input.createdAt },
        include: withKey,
      })
      return toSession(row)
    },
    async touch(workspaceId, id, at) {
      await client.session.updateMany({ where: { workspaceId, id }, data: { lastSeenAt: at } })
    },
    async delete(workspaceId, id) {
      const { count } = await client.session.deleteMany({ where: { workspaceId, id } })
      return count > 0
    },
    async deleteExpired(workspaceId, at) {
      await client.session.deleteMany({ where: { workspaceId, expiresAt: { lte: at } } })
    },
  }
}

function toSession({ apiKeyId: _apiKeyId, apiKey, ...row }: SessionRow): StoredSession {
  return { ...row, apiKey: toApiKey(apiKey), keyHash: apiKey.hash }
}
