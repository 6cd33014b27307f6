import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import { defined } from '@stet/template/defined'
import type { Conversation, Run } from '../../../../generated/prisma/client.ts'
import type { LeaseStore, RunStore, StoredConversation, StoredRun } from '../../../features/runs/ports.ts'
import type { QueuedInput, RunStatus } from '../../../features/runs/run.ts'
import { type DatabaseClient, fromJson } from '../database.ts'
import { diskFull } from '../database-error.ts'
import { usesReserve } from '../statement-gate.ts'
import type { WriteBatch } from '../write-batch.ts'
import { labelColumns } from './conversation-store.ts'
import { nextRuns } from './next-run-rows.ts'
import { claimedFirstRuns, ends, firstRuns, queueClaims, stops } from './run-rows.ts'

const runFields = {
  uuid: true,
  status: true,
  epoch: true,
  firstEventId: true,
  lastEventId: true,
  result: true,
  stopRequestedAt: true,
  givenFrom: true,
  givenCount: true,
  createdAt: true,
  endedAt: true,
} as const

type RunFields = Pick<Run, keyof typeof runFields>

/** Loads relations with separate queries. A join would build `jsonb`, which does not preserve key order. */
const asWritten = { relationLoadStrategy: 'query' } as const

const shown = { deletedAt: null } as const

const unreadColumns = { ...labelColumns, judgedUuid: true } as const

type ConversationRow = Omit<Conversation, keyof typeof unreadColumns>

export interface RunStoreDatabase {
  client: DatabaseClient
  ownSession: SqlSession
  writeBatch: WriteBatch
  writesClosed(): boolean
}

export function postgresRunStore({ client, ownSession, writeBatch, writesClosed }: RunStoreDatabase): RunStore {
  return {
    create(conversation, run, claim, span) {
      const row = { workspaceId: run.workspaceId, conversation, run }
      const kind = conversation.messages ? 'forked' : run.tags ? 'tagged' : 'plain'
      if (!claim) return writeBatch.write(firstRuns[kind], row, span)
      return writeBatch.write(claimedFirstRuns[conversation.judgedUuid ? 'judging' : kind], { ...row, claim }, span)
    },
    assertOpen() {
      if (writesClosed()) throw diskFull()
    },
    isStorageInDoubt: writeBatch.isInDoubt,
    startQueued: (run, isRepeat, span) =>
      writeBatch.write(queueClaims, { workspaceId: run.workspaceId, run, isRepeat }, span),
    requestStop: (workspaceId, runUuid) => writeBatch.write(stops, { workspaceId, runUuid }),
    createNext(run, added, claim, span) {
      const row = defined({ workspaceId: run.workspaceId, run, added, claim })
      return writeBatch.write('ownerId' in run ? nextRuns.started : nextRuns.queued, row, span)
    },
    end: (end, span) => writeBatch.write(ends, end, span),
    async findConversation(workspaceId, uuid) {
      const row = await client.conversation.findFirst({ where: { workspaceId, uuid, ...shown }, omit: unreadColumns })
      if (!row) return null
      // With `include`, Prisma would load all runs. The epoch orders runs that share a millisecond.
      const latest = { where: { conversationUuid: uuid }, select: runFields, orderBy: { epoch: 'desc' } } as const
      return toConversation(row, await client.run.findFirst(latest))
    },
    async findRun(workspaceId, runUuid) {
      const run = await client.run.findFirst({
        ...asWritten,
        where: { uuid: runUuid, workspaceId, conversation: shown },
        select: { ...runFields, conversation: { omit: unreadColumns } },
      })
      return run && asRunLeftIt(toConversation(run.conversation, run))
    },
    async findRunStatus(workspaceId, runUuid) {
      const where = { uuid: runUuid, workspaceId, conversation: shown }
      const run = await client.run.findFirst({ where, select: { status: true } })
      return run && (run.status as RunStatus)
    },
    async listOrphaned(ownerId) {
      const { rows } = await ownSession.query(
        `SELECT r.conversation_uuid::text AS uuid FROM run r LEFT JOIN instance i ON i.id = r.owner_id
         WHERE r.status = 'running' AND r.ended_at IS NULL AND r.owner_id <> $1 AND (i.id IS NULL OR i.lease_until < now())`,
        [ownerId],
      )
      if (rows.length === 0) return []
      const uuids = rows.map((row) => String(row['uuid']))
      const found = await client.conversation.findMany({
        ...asWritten,
        where: { uuid: { in: uuids }, status: 'running' },
        omit: unreadColumns,
        include: { runs: { select: runFields, where: { status: 'running', endedAt: null } } },
      })
      return found.map(({ runs: [run], ...row }) => toConversation(row, run ?? null))
    },
    ...queuedWith({ client, ownSession }),
    ...keptWith({ client, ownSession }),
  }
}

type Queued = Pick<RunStore, 'listQueued' | 'countQueued' | 'countItems' | 'findQueued' | 'findInput'>

/** The queued runs, and what they run. */
function queuedWith({ client, ownSession }: Pick<RunStoreDatabase, 'client' | 'ownSession'>): Queued {
  return {
    async listQueued() {
      const { rows } = await ownSession.query(
        `SELECT uuid::text AS run, api_key_id FROM run WHERE status = 'queued' AND ended_at IS NULL ORDER BY created_at, uuid`,
      )
      return rows.map((row) => ({ runUuid: String(row['run']), apiKeyId: Number(row['api_key_id']) }))
    },
    countQueued: (apiKeyId) => client.run.count({ where: { status: 'queued', endedAt: null, apiKeyId } }),
    async countItems() {
      const { rows } = await ownSession.query(
        `SELECT (SELECT count(*)::int FROM run
             WHERE status IN ('queued', 'running') AND ended_at IS NULL AND via IN ('experiment', 'judge')) AS active,
           (SELECT count(*)::int FROM instance WHERE lease_until > now()) AS processes`,
      )
      return { active: Number(rows[0]?.['active']), processes: Number(rows[0]?.['processes']) }
    },
    async findQueued(runUuid) {
      const run = await client.run.findFirst({
        ...asWritten,
        where: { uuid: runUuid, status: 'queued' },
        select: { ...runFields, input: true, conversation: { omit: unreadColumns } },
      })
      if (run?.input == null) return null
      return { conversation: toConversation(run.conversation, run), input: JSON.parse(run.input) as QueuedInput }
    },
    async findInput(runUuid) {
      const run = await client.run.findUnique({ where: { uuid: runUuid }, select: { input: true } })
      return run?.input == null ? null : (JSON.parse(run.input) as QueuedInput)
    },
  }
}

type KeptWithRun = Pick<RunStore, 'findRequest' | 'saveEventLog' | 'findEventLog' | 'dropEventLogs'>

/** What a run's row keeps beside its state and result. */
function keptWith({ client, ownSession }: Pick<RunStoreDatabase, 'client' | 'ownSession'>): KeptWithRun {
  return {
    async findRequest(workspaceId, runUuid) {
      const where = { uuid: runUuid, workspaceId, conversation: shown }
      return (await client.run.findFirst({ where, select: { request: true } }))?.request ?? null
    },
    async saveEventLog({ uuid, epoch }, eventLog) {
      const data = { eventLog: Uint8Array.from(eventLog) }
      await client.run.updateMany({ where: { uuid, epoch, status: 'running' }, data })
    },
    async findEventLog(workspaceId, runUuid) {
      const run = await client.run.findFirst({ where: { uuid: runUuid, workspaceId }, select: { eventLog: true } })
      return run?.eventLog ?? null
    },
    async dropEventLogs(from, before) {
      const { affectedRows } = await ownSession.query(
        `UPDATE run SET event_log = NULL WHERE uuid IN (
           SELECT uuid FROM run WHERE ended_at >= $1::timestamptz AND ended_at < $2::timestamptz
             AND event_log IS NOT NULL LIMIT 500)`,
        [from.toISOString(), before.toISOString()],
      )
      return affectedRows
    },
  }
}

function toConversation(
  { deletedAt: _deletedAt, ...row }: ConversationRow,
  latest: RunFields | null,
): StoredConversation {
  return {
    ...row,
    config: fromJson(row.config),
    messages: fromJson(row.messages),
    origin: row.origin as StoredConversation['origin'],
    via: row.via as StoredConversation['via'],
    status: row.status as RunStatus,
    latestRun: latest ? toRun(latest) : null,
  }
}

/** Messages are only appended, so an earlier run's messages are a prefix. */
function asRunLeftIt(conversation: StoredConversation): StoredConversation {
  const { latestRun: run, messages } = conversation
  if (!run) return conversation
  const covers = run.result?.covers ?? messages.length
  return { ...conversation, status: run.status, epoch: run.epoch, messages: messages.slice(0, covers) }
}

function toRun(run: RunFields): StoredRun {
  return { ...run, status: run.status as RunStatus, result: fromJson(run.result) }
}

/** `renew` uses one statement to renew a lease and read stop requests, for any number of runs. */
export function postgresLeaseStore(session: SqlSession): LeaseStore {
  return {
    async renew(ownerId, leaseMs) {
      const { rows } = await session.query(
        usesReserve(`WITH renewed AS (
           INSERT INTO instance (id, lease_until) VALUES ($1, now() + $2::int * interval '1 millisecond')
           ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until
         )
         SELECT uuid::text AS run FROM run
         WHERE status = 'running' AND ended_at IS NULL AND owner_id = $1 AND stop_requested_at IS NOT NULL`),
        [ownerId, leaseMs],
      )
      return rows.map((row) => String(row['run']))
    },
    async endAll() {
      await session.query('DELETE FROM instance')
    },
    async release(ownerId) {
      await session.query(usesReserve('DELETE FROM instance WHERE id = $1'), [ownerId])
    },
  }
}
