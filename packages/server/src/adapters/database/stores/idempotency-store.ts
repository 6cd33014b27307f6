/** Records of idempotency keys in the database; those of runs are written with their runs. */
import { Prisma } from '../../../../generated/prisma/client.ts'
import type { IdempotencyStore } from '../../../features/idempotency/ports.ts'
import type { DatabaseClient } from '../database.ts'

const atOnce = 500
const unfinished = { answer: null, runUuid: null } as const

export function postgresIdempotencyStore(client: DatabaseClient): IdempotencyStore {
  return {
    async claim({ id, requestHash }, ownerId, answer) {
      const data = [{ id, requestHash, ownerId, answer: answer ?? null }]
      const { count } = await client.idempotencyRecord.createMany({ data, skipDuplicates: true })
      return count === 1
    },
    async find(id) {
      const row = await client.idempotencyRecord.findUnique({ where: { id } })
      if (!row) return null
      const { requestHash, ownerId, conversationUuid, runUuid, answer } = row
      const run = conversationUuid !== null && runUuid !== null ? { conversationUuid, runUuid } : null
      const isDone = run !== null || answer !== null
      return { requestHash, ownerId, run, answer, isOwnerAlive: !isDone && (await isAlive(client, ownerId)) }
    },
    async takeOver(id, from, ownerId) {
      const where = { id, ownerId: from, ...unfinished }
      const { count } = await client.idempotencyRecord.updateMany({ where, data: { ownerId } })
      return count === 1
    },
    async complete(id, ownerId, answer) {
      const where = { id, ownerId, ...unfinished }
      const { count } = await client.idempotencyRecord.updateMany({ where, data: { answer } })
      return count === 1
    },
    async release(id, ownerId) {
      await client.idempotencyRecord.deleteMany({ where: { id, ownerId, ...unfinished } })
    },
    async releaseOthers(ownerId) {
      const where = { ownerId: { not: ownerId }, ...unfinished }
      return (await client.idempotencyRecord.deleteMany({ where })).count
    },
    async dropBefore(before) {
      const old = await client.idempotencyRecord.findMany({
        where: { createdAt: { lt: before } },
        select: { id: true },
        take: atOnce,
      })
      if (old.length === 0) return 0
      return (await client.idempotencyRecord.deleteMany({ where: { id: { in: old.map(({ id }) => id) } } })).count
    },
  }
}

/** By the clock of the database. */
async function isAlive(client: DatabaseClient, ownerId: string): Promise<boolean> {
  const rows = await client.$queryRaw<unknown[]>(
    Prisma.sql`SELECT 1 FROM instance WHERE id = ${ownerId} AND lease_until > now()`,
  )
  return rows.length > 0
}
