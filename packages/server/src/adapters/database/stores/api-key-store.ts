import type { KeyPlan, KeyScope } from '@stet/contract/vocabulary'
import type { Prisma } from '../../../../generated/prisma/client.ts'
import { type ApiKey, limitOf } from '../../../features/access/api-key.ts'
import type { ApiKeyStore } from '../../../features/access/ports.ts'
import { refuse } from '../../../shared/app-error.ts'
import type { DatabaseClient } from '../database.ts'

export const withAuthor = { author: { select: { id: true, name: true, email: true } } } as const

type ApiKeyRow = Prisma.ApiKeyGetPayload<{ include: typeof withAuthor }>

export function postgresApiKeyStore(client: DatabaseClient): ApiKeyStore {
  return {
    async findUsable(hash, now) {
      const row = await client.apiKey.findUnique({
        where: { hash, revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
        include: withAuthor,
      })
      return row && toApiKey(row)
    },
    findByHash: (hash) => client.apiKey.findUnique({ where: { hash }, select: { id: true, workspaceId: true } }),
    async list(workspaceId) {
      const rows = await client.apiKey.findMany({
        where: { workspaceId },
        include: withAuthor,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      })
      return rows.map(toApiKey)
    },
    async findOptional(workspaceId, id) {
      const row = await client.apiKey.findFirst({ where: { workspaceId, id }, include: withAuthor })
      return row && { ...toApiKey(row), hash: row.hash }
    },
    async create(workspaceId, { author, scopes: granted, ...input }) {
      const row = await client.apiKey.create({
        data: { ...input, workspaceId, scopes: [...granted], authorId: author.id },
        include: withAuthor,
      })
      return toApiKey(row)
    },
    async revoke(workspaceId, id, at) {
      const { count } = await client.apiKey.updateMany({
        where: { workspaceId, id, revokedAt: null },
        data: { revokedAt: at },
      })
      if (count === 0) throw refuse('unknown-api-key')
    },
    async setExpiry(workspaceId, id, expiresAt) {
      const { count } = await client.apiKey.updateMany({ where: { workspaceId, id }, data: { expiresAt } })
      if (count === 0) throw refuse('unknown-api-key')
    },
    async lockKeys(workspaceId) {
      await client.$queryRaw`SELECT id FROM workspace WHERE id = ${workspaceId} FOR UPDATE`
    },
    countOtherAdminKeys(workspaceId, exceptId, at) {
      return client.apiKey.count({ where: { ...usableAdminKey(at), workspaceId, id: { not: exceptId } } })
    },
    async listAdmins(workspaceId, at) {
      const rows = await client.apiKey.findMany({
        where: { ...usableAdminKey(at), workspaceId },
        distinct: ['authorId'],
        select: withAuthor,
      })
      return rows.map(({ author }) => author)
    },
    async touch(id, at) {
      await client.apiKey.updateMany({ where: { id }, data: { lastUsedAt: at } })
    },
  }
}

function usableAdminKey(at: Date) {
  const isUnexpired = [{ expiresAt: null }, { expiresAt: { gt: at } }]
  return { scopes: { has: 'admin' }, projectId: null, revokedAt: null, OR: isUnexpired }
}

export function toApiKey({ authorId: _authorId, customLimit, hash: _hash, ...row }: ApiKeyRow): ApiKey {
  const plan = row.plan as KeyPlan
  return { ...row, plan, limit: limitOf(plan, customLimit), scopes: row.scopes as KeyScope[] }
}
