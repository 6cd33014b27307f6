import { defined } from '@stet/template/defined'
import type { Prisma } from '../../../../generated/prisma/client.ts'
import type {
  ConversationFilter,
  ConversationPlace,
  ConversationStore,
  StoredSummary,
} from '../../../features/conversations/ports.ts'
import type { RunStatus } from '../../../features/runs/run.ts'
import type { DatabaseClient } from '../database.ts'

const shown = {
  omit: { config: true, messages: true, epoch: true, lastEventId: true, deletedAt: true },
  // Ordered by epoch, because two runs may have the same `createdAt` millisecond.
  include: { runs: { select: { uuid: true, endedAt: true }, orderBy: { epoch: 'desc' }, take: 1 } },
} as const satisfies Pick<Prisma.ConversationFindManyArgs, 'omit' | 'include'>

type SummaryRow = Prisma.ConversationGetPayload<typeof shown>
type ShownResult = NonNullable<StoredSummary['latestRun']>['result']

export function postgresConversationStore(client: DatabaseClient): ConversationStore {
  return {
    async list(workspaceId, filter, { after, limit }) {
      const rows = await client.conversation.findMany({
        where: { workspaceId, deletedAt: null, ...filtered(filter), ...(after && { AND: older(after) }) },
        ...shown,
        orderBy: [{ createdAt: 'desc' }, { uuid: 'desc' }],
        take: limit,
      })
      const results = await listResults(
        client,
        rows.flatMap(({ runs }) => runs.map(({ uuid }) => uuid)),
      )
      return rows.map((row) => toSummary(row, results))
    },
  }
}

function older({ createdAt, uuid }: ConversationPlace): Prisma.ConversationWhereInput[] {
  // The first condition bounds the index range. The second one alone would not.
  return [{ createdAt: { lte: createdAt } }, { OR: [{ createdAt: { lt: createdAt } }, { uuid: { lt: uuid } }] }]
}

function filtered({ from, to, hiddenProjects = [], ...equal }: ConversationFilter): Prisma.ConversationWhereInput {
  return {
    ...equal,
    ...((from || to) && { createdAt: defined({ gte: from, lte: to }) }),
    ...(hiddenProjects.length > 0 && { NOT: { projectId: { in: [...hiddenProjects] } } }),
  }
}

/** Selects results without `response`, which contains the complete answer and is not listed. */
async function listResults(client: DatabaseClient, uuids: readonly string[]): Promise<Map<string, ShownResult>> {
  if (uuids.length === 0) return new Map()
  const rows = await client.$queryRaw<{ uuid: string; result: ShownResult }[]>`
    SELECT uuid::text AS uuid, result::jsonb - 'response' AS result FROM run WHERE uuid = ANY(${uuids}::uuid[])`
  return new Map(rows.map(({ uuid, result }) => [uuid, result]))
}

function toSummary({ runs: [run], ...row }: SummaryRow, results: ReadonlyMap<string, ShownResult>): StoredSummary {
  const latestRun = run ? { endedAt: run.endedAt, result: results.get(run.uuid) ?? null } : null
  return {
    ...row,
    status: row.status as RunStatus,
    origin: row.origin as StoredSummary['origin'],
    via: row.via as StoredSummary['via'],
    latestRun,
  }
}
