/** Stores what the console's sign-in needs. */

import type { Prisma } from '../../../../generated/prisma/client.ts'
import type {
  InstallationStore,
  SessionStore,
  SignInLinkStore,
  StoredSession,
} from '../../../features/sessions/ports.ts'
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

const shownLink = { workspaceId: true, apiKeyId: true, expiresAt: true, usedAt: true } as const

export function postgresSignInLinkStore(client: DatabaseClient): SignInLinkStore {
  return {
    async create(workspaceId, input) {
      await client.signInLink.create({ data: { ...input, workspaceId } })
    },
    findByCode: (codeHash) => client.signInLink.findUnique({ where: { codeHash }, select: shownLink }),
    async use(codeHash, at) {
      // One `UPDATE … RETURNING`: PostgreSQL checks `usedAt` again after it has waited for a parallel update.
      const [link] = await client.signInLink.updateManyAndReturn({
        where: { codeHash, usedAt: null, expiresAt: { gt: at } },
        data: { usedAt: at },
        select: shownLink,
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

export function postgresInstallationStore(client: DatabaseClient): InstallationStore {
  const id = 1
  return {
    async findOptional() {
      const row = await client.installation.findUnique({ where: { id } })
      return row?.uuid ?? null
    },
    async save(uuid) {
      await client.installation.createMany({ data: { id, uuid }, skipDuplicates: true })
      const row = await client.installation.findUniqueOrThrow({ where: { id } })
      return row.uuid
    },
  }
}
