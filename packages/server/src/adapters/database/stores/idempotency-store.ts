/** Inserts only idempotency records of requests without a run. `run-rows.ts` inserts the records of runs. */

import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import type { IdempotencyRecord } from '../../../../generated/prisma/client.ts'
import type { IdempotencyStore, IdempotencyUpkeep } from '../../../features/idempotency/ports.ts'
import type { DatabaseClient } from '../database.ts'

/** Replaces the response of a record whose subject is purged. No response is empty. */
export const erasedAnswer = ''

const unfinished = { answer: null, runUuid: null } as const
const subject = { deletedAt: true, projectId: true } as const

export function postgresIdempotencyStore(client: DatabaseClient): IdempotencyStore {
  return {
    async claim({ id, requestHash, projectId, conversationUuid }, ownerId, answer) {
      const subject = { projectId: projectId ?? null, conversationUuid: conversationUuid ?? null }
      const data = [{ id, requestHash, ownerId, ...subject, answer: answer ?? null }]
      const { count } = await client.idempotencyRecord.createMany({ data, skipDuplicates: true })
      return count === 1
    },
    async find(id) {
      const record = await client.idempotencyRecord.findUnique({ where: { id } })
      if (!record) return null
      const { requestHash, ownerId, conversationUuid, runUuid, answer } = record
      const isErased = answer === erasedAnswer || (await isSubjectDeleted(client, record))
      const run = conversationUuid !== null && runUuid !== null ? { conversationUuid, runUuid } : null
      const isDone = run !== null || answer !== null
      return { isErased, requestHash, ownerId, run, answer, isOwnerAlive: !isDone && (await isAlive(client, ownerId)) }
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

/** @param session does not count its statements as request activity. */
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

async function isSubjectDeleted(client: DatabaseClient, record: IdempotencyRecord): Promise<boolean> {
  const { conversationUuid: uuid } = record
  const conversation = uuid === null ? null : await client.conversation.findUnique({ where: { uuid }, select: subject })
  if (conversation?.deletedAt) return true
  const id = record.projectId ?? conversation?.projectId
  return id != null && (await client.project.count({ where: { id, deletedAt: { not: null } } })) > 0
}

/** Uses the database's clock, which all servers share. */
async function isAlive(client: DatabaseClient, ownerId: string): Promise<boolean> {
  const rows = await client.$queryRaw<unknown[]>`SELECT 1 FROM instance WHERE id = ${ownerId} AND lease_until > now()`
  return rows.length > 0
}
