/** Records of idempotency keys in the database; those of runs are written with their runs. */
import { Prisma } from '../../../../generated/prisma/client.ts'
import type { IdempotencyStore, IdempotencyUpkeep } from '../../../features/idempotency/ports.ts'
import type { DatabaseClient } from '../database.ts'
import type { SqlSession } from '../sql-session.ts'

const unfinished = { answer: null, runUuid: null } as const

interface FoundRecord {
  requestHash: string
  ownerId: string
  conversationUuid: string | null
  runUuid: string | null
  answer: string | null
  isDeleted: boolean
}

const found = Prisma.sql`
  SELECT r.request_hash AS "requestHash", r.owner_id AS "ownerId", r.conversation_uuid::text AS "conversationUuid",
    r.run_uuid::text AS "runUuid", r.answer,
    (c.deleted_at IS NOT NULL OR p.deleted_at IS NOT NULL) AS "isDeleted"
  FROM idempotency_record r LEFT JOIN conversation c ON c.uuid = r.conversation_uuid
    LEFT JOIN project p ON p.id = coalesce(r.project_id, c.project_id)`

export function postgresIdempotencyStore(client: DatabaseClient): IdempotencyStore {
  return {
    async claim({ id, requestHash, projectId, conversationUuid }, ownerId, answer) {
      const subject = { projectId: projectId ?? null, conversationUuid: conversationUuid ?? null }
      const data = [{ id, requestHash, ownerId, ...subject, answer: answer ?? null }]
      const { count } = await client.idempotencyRecord.createMany({ data, skipDuplicates: true })
      return count === 1
    },
    async find(id) {
      const [row] = await client.$queryRaw<FoundRecord[]>`${found} WHERE r.id = ${id}`
      if (row?.isDeleted) await client.idempotencyRecord.deleteMany({ where: { id } })
      if (!row || row.isDeleted) return null
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
    async complete(id, ownerId, { text, ...subject }) {
      const where = { id, ownerId, ...unfinished }
      const { count } = await client.idempotencyRecord.updateMany({ where, data: { ...subject, answer: text } })
      return count === 1
    },
    async release(id, ownerId) {
      await client.idempotencyRecord.deleteMany({ where: { id, ownerId, ...unfinished } })
    },
  }
}

/** @param session one whose statements are not counted as those of requests. */
export function postgresIdempotencyUpkeep(session: SqlSession): IdempotencyUpkeep {
  return {
    async releaseOthers(ownerId) {
      const { affectedRows } = await session.query(
        `DELETE FROM idempotency_record r WHERE owner_id <> $1 AND answer IS NULL AND run_uuid IS NULL
           AND NOT EXISTS (SELECT 1 FROM instance i WHERE i.id = r.owner_id AND i.lease_until > now())`,
        [ownerId],
      )
      return affectedRows
    },
    async dropBefore(before) {
      const { affectedRows } = await session.query(
        `DELETE FROM idempotency_record WHERE id IN (
           SELECT id FROM idempotency_record WHERE created_at < $1::timestamptz LIMIT 500)`,
        [before.toISOString()],
      )
      return affectedRows
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
