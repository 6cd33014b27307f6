import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import type { StorageMeter, WorkspaceStore } from '../../../features/access/ports.ts'
import type { DatabaseClient } from '../database.ts'

export function postgresWorkspaceStore(client: DatabaseClient): WorkspaceStore {
  const shown = { id: true, name: true } as const
  const author = { id: true, name: true, email: true } as const
  return {
    async find(id) {
      const workspace = await client.workspace.findUnique({ where: { id }, select: shown })
      if (!workspace) throw new Error('The workspace of a key does not exist')
      return workspace
    },
    findFirst: () => client.workspace.findFirst({ select: shown, orderBy: { id: 'asc' } }),
    findByName: (name) => client.workspace.findFirst({ where: { name }, select: shown, orderBy: { id: 'asc' } }),
    create: (name) => client.workspace.create({ data: { name }, select: shown }),
    createAuthor: (workspaceId, input) => client.author.create({ data: { ...input, workspaceId }, select: author }),
    findAuthorByEmail: (workspaceId, email) =>
      client.author.findFirst({
        where: { workspaceId, email: { equals: withoutWildcards(email), mode: 'insensitive' } },
        select: author,
        orderBy: { id: 'asc' },
      }),
    findAuthor: (workspaceId, wanted) =>
      client.author.findFirst({ where: { ...wanted, workspaceId }, select: author, orderBy: { id: 'asc' } }),
    async lockCreation() {
      // Another starting server holds the lock while it makes a workspace. A slow machine needs longer than the lock timeout.
      await client.$executeRaw`SET LOCAL lock_timeout = 0`
      // An arbitrary number that no other advisory lock of stet uses.
      await client.$executeRaw`SELECT pg_advisory_xact_lock(7358801)`
    },
  }
}

// Prisma compares without case with ILIKE, and does not escape its wildcards.
function withoutWildcards(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

/** For the other columns of a row and its entries in indexes. */
const rowBytes = 200

interface MeasuredTable {
  /** The workspace of a row `t`: a column, or a lookup by primary key. */
  workspace: string
  /** The columns that a request can make large. */
  columns: readonly string[]
}

const ofProject = '(SELECT p.workspace_id FROM project p WHERE p.id = t.project_id)'
const ofVersion =
  '(SELECT p.workspace_id FROM version v JOIN project p ON p.id = v.project_id WHERE v.id = t.version_id)'
const ofConversation = '(SELECT c.workspace_id FROM conversation c WHERE c.uuid = t.conversation_uuid)'
const ofExperiment = '(SELECT e.workspace_id FROM experiment e WHERE e.id = t.experiment_id)'
const own = 't.workspace_id'

const tables: Readonly<Record<string, MeasuredTable>> = {
  version: { workspace: ofProject, columns: ['title', 'description'] },
  document: { workspace: ofProject, columns: ['path', 'content'] },
  forced_edit: { workspace: ofVersion, columns: ['path', 'old_content', 'new_content'] },
  release: { workspace: ofProject, columns: ['reason'] },
  conversation: { workspace: own, columns: ['custom_identifier', 'config', 'messages', 'note'] },
  conversation_tag: { workspace: ofProject, columns: ['tag'] },
  log_entry: { workspace: ofConversation, columns: ['parameters'] },
  run: {
    workspace: own,
    columns: ['error_message', 'result', 'event_log', 'input', 'parameters', 'overrides', 'spans'],
  },
  run_figure: { workspace: ofProject, columns: ['model'] },
  run_day: { workspace: ofProject, columns: ['cells'] },
  tool_call: { workspace: own, columns: ['result'] },
  evaluation: { workspace: own, columns: ['name', 'description', 'configuration', 'checks'] },
  annotation: { workspace: own, columns: ['metadata', 'by'] },
  experiment: { workspace: own, columns: ['arms', 'texts', 'origin'] },
  experiment_item: { workspace: ofExperiment, columns: ['row_name'] },
  example: {
    workspace: own,
    columns: ['parameters', 'messages', 'expected', 'checks', 'tool_results', 'tags', 'custom_identifier'],
  },
  // Kept for a day. A record that names neither a conversation nor a project is small.
  idempotency_record: { workspace: `coalesce(${ofConversation}, ${ofProject})`, columns: ['answer'] },
}

// The size of a column is beside the row. The size of a whole row would read the large values of all its columns.
const parts = Object.entries(tables).map(([table, { workspace, columns }]) => {
  const sizes = columns.map((column) => `coalesce(pg_column_size(t.${column}), 0)`)
  return `SELECT ${workspace} AS workspace, ${rowBytes} + ${sizes.join(' + ')} AS bytes
    FROM ${table} t WHERE t.ctid >= $1::tid AND t.ctid < $2::tid`
})
const lengths = Object.keys(tables).map((table) => `pg_relation_size('${table}')`)

/** The row without a workspace has the pages of the largest table. */
const sums = `SELECT workspace, sum(bytes)::float8 AS bytes FROM (${parts.join(' UNION ALL ')}) measured
  WHERE workspace IS NOT NULL GROUP BY workspace
  UNION ALL
  SELECT NULL, (greatest(${lengths.join(', ')}) / current_setting('block_size')::int)::float8`

export function postgresStorageMeter(session: SqlSession): StorageMeter {
  return {
    async measure(from, pages) {
      const { rows } = await session.query(sums, [`(${from},0)`, `(${from + pages},0)`])
      const bytes = new Map<number, number>()
      let hasMore = false
      for (const { workspace, bytes: value } of rows) {
        if (workspace === null) hasMore = Number(value) > from + pages
        else bytes.set(Number(workspace), Number(value))
      }
      return { bytes, hasMore }
    },
  }
}
