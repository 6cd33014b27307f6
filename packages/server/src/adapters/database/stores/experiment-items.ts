/** Reads the items of an experiment with their runs, scores and rows. */

import { type CannedResult, EXPERIMENT_LIMITS, type Message } from '@stet/contract/vocabulary'
import type {
  ExperimentStore,
  ShownItem,
  ShownRow,
  VerdictItem,
  VerdictRow,
  Verdicts,
} from '../../../features/experiments/ports.ts'
import { rowHashOf } from '../../../features/experiments/rows/fingerprint.ts'
import { type DatabaseClient, fromJson } from '../database.ts'
import { codeOfItem, costOfRun, runOfItem, stateOfItem } from './experiment-rows.ts'

interface ItemRow {
  uuid: string
  arm: number
  exampleUuid: string
  trial: number
  attempt: number
  position: number
  name: string
  rowHash: string
  conversationUuid: string
  isStarted: boolean
  state: string
  code: string | null
  costUsd: number | null
  durationMs: number | null
  answer: string | null
  isDropped: boolean
  details: Record<string, unknown> | null
}

/** A response that covers no message is what the retention leaves. A resumed experiment has such answers beside new ones. */
const answerOfRun = `CASE WHEN EXISTS (SELECT FROM conversation c WHERE c.uuid = i.conversation_uuid AND c.deleted_at IS NULL)
      THEN left(r.result->'response'->>'text', ${EXPERIMENT_LIMITS.answerBytes + 1}) END AS answer,
    coalesce(r.result->'response' IS NOT NULL AND r.result->>'covers' = '0', false) AS "isDropped"`
const noAnswer = 'NULL::text AS answer, false AS "isDropped"'

const itemsSql = (answer: string, condition: string) => `
  SELECT i.uuid::text, i.arm, i.example_uuid::text AS "exampleUuid", i.trial, i.attempt, i.position, i.row_name AS name,
    i.row_hash AS "rowHash", i.conversation_uuid::text AS "conversationUuid",
    (i.started_at IS NOT NULL OR r.uuid IS NOT NULL) AS "isStarted", ${stateOfItem} AS state, ${codeOfItem} AS code,
    CASE WHEN r.cost_nano IS NULL THEN NULL ELSE ${costOfRun} END AS "costUsd",
    (extract(epoch FROM r.ended_at - coalesce(r.started_at, r.created_at)) * 1000)::int AS "durationMs", ${answer},
    r.result->'error'->'details' AS details
  FROM experiment e JOIN experiment_item i ON i.experiment_id = e.id ${runOfItem}
  WHERE e.workspace_id = $1 AND e.uuid = $2::uuid ${condition}
  ORDER BY i.position, i.trial, i.arm`

const allItems = itemsSql(noAnswer, '')
const itemsOfRows = itemsSql(answerOfRun, 'AND i.position = ANY($3::int[])')

const plainPositionsSql = `
  SELECT DISTINCT i.example_uuid::text AS "exampleUuid", i.row_hash AS "rowHash", i.position, false AS differs
  FROM experiment e JOIN experiment_item i ON i.experiment_id = e.id
  WHERE e.workspace_id = $1 AND e.uuid = $2::uuid ORDER BY 3`

/** $3 = the arm. The answers of all trials are compared, in their order. */
const positionsSql = `
  SELECT i.example_uuid::text AS "exampleUuid", i.row_hash AS "rowHash", i.position,
    array_agg(md5(r.result->'response'->>'text') ORDER BY i.trial) FILTER (WHERE i.arm = $3::int) IS DISTINCT FROM
      array_agg(md5(r.result->'response'->>'text') ORDER BY i.trial) FILTER (WHERE i.arm = 0) AS differs
  FROM experiment e JOIN experiment_item i ON i.experiment_id = e.id ${runOfItem}
  WHERE e.workspace_id = $1 AND e.uuid = $2::uuid
  GROUP BY 1, 2, 3 ORDER BY 3`

interface ScoreRow {
  conversationUuid: string
  evaluationUuid: string
  isPerson: boolean
  hasPassed: boolean | null
  code: string | null
  reason: string | null
  authorId: number
  authorName: string
  authorEmail: string
}

/** The newest score of a person and the newest automatic one, of each item and evaluation. $3 = positions, or null for all. */
const scoresSql = `
  SELECT DISTINCT ON (a.conversation_uuid, a.evaluation_uuid, "isPerson")
    a.conversation_uuid::text AS "conversationUuid", a.evaluation_uuid::text AS "evaluationUuid",
    a.source = 'person' AS "isPerson", a.has_passed AS "hasPassed", a.code, a.metadata->>'reason' AS reason,
    a.author_id AS "authorId", coalesce(p.name, '') AS "authorName", coalesce(p.email, '') AS "authorEmail"
  FROM experiment e JOIN experiment_item i ON i.experiment_id = e.id
  JOIN annotation a ON a.conversation_uuid = i.conversation_uuid AND a.evaluation_uuid = ANY(e.evaluation_uuids)
  LEFT JOIN author p ON p.id = a.author_id
  WHERE e.workspace_id = $1 AND e.uuid = $2::uuid AND ($3::int[] IS NULL OR i.position = ANY($3::int[]))
  ORDER BY a.conversation_uuid, a.evaluation_uuid, "isPerson", a.id DESC`

type Scores = Map<string, { scores: VerdictItem['scores']; reasons: Record<string, string> }>

async function readScores(
  client: DatabaseClient,
  workspaceId: number,
  uuid: string,
  positions: readonly number[] | null,
): Promise<Scores> {
  const rows = await client.$queryRawUnsafe<ScoreRow[]>(scoresSql, workspaceId, uuid, positions)
  const byItem: Scores = new Map()
  // Automatic scores come first, and a person's score replaces them.
  for (const { conversationUuid, evaluationUuid, isPerson, hasPassed, code, reason, ...author } of rows) {
    const item = byItem.get(conversationUuid) ?? { scores: {}, reasons: {} }
    byItem.set(conversationUuid, item)
    const score = { ...(hasPassed !== null && { hasPassed }), ...(code !== null && { code }) }
    const auto = item.scores[evaluationUuid]
    item.scores[evaluationUuid] = isPerson
      ? {
          ...{ ...score, by: 'person', ...(auto && { auto }) },
          author: { id: author.authorId, name: author.authorName, email: author.authorEmail },
        }
      : { ...score, by: 'auto' }
    if (reason === null) delete item.reasons[evaluationUuid]
    else item.reasons[evaluationUuid] = reason
  }
  return byItem
}

const outcomes: Record<string, VerdictItem['outcome']> = {
  waiting: 'waiting',
  retrying: 'waiting',
  running: 'running',
  ended: 'ended',
  'row-changed': 'row-changed',
}

export async function readVerdicts(client: DatabaseClient, workspaceId: number, uuid: string): Promise<Verdicts> {
  const items = await client.$queryRawUnsafe<ItemRow[]>(allItems, workspaceId, uuid)
  const scores = await readScores(client, workspaceId, uuid, null)
  const tags = await tagsOf(client, items)
  const rows = new Map<string, VerdictRow>()
  for (const { exampleUuid, name } of items) {
    rows.set(exampleUuid, { exampleUuid, name, tags: tags.get(exampleUuid) ?? [] })
  }
  return {
    arms: items.reduce((most, { arm }) => Math.max(most, arm + 1), 0),
    rows: [...rows.values()],
    items: items.map(({ uuid: itemUuid, arm, exampleUuid, state, code, costUsd, durationMs, details, ...item }) => ({
      ...{ uuid: itemUuid, arm, exampleUuid, outcome: outcomes[state] ?? 'failed' },
      ...(code !== null && { code }),
      ...(details !== null && { details }),
      ...(costUsd !== null && { costUsd }),
      ...(durationMs !== null && { durationMs }),
      scores: scores.get(item.conversationUuid)?.scores ?? {},
    })),
  }
}

async function tagsOf(client: DatabaseClient, items: readonly ItemRow[]): Promise<Map<string, string[]>> {
  const uuids = [...new Set(items.map(({ exampleUuid }) => exampleUuid))]
  const rows = await client.example.findMany({ where: { uuid: { in: uuids } }, select: { uuid: true, tags: true } })
  return new Map(rows.map((row) => [row.uuid, row.tags]))
}

interface Place {
  workspaceId: number
  uuid: string
}

export async function rowPositions(client: DatabaseClient, { workspaceId, uuid, arm }: Place & { arm: number | null }) {
  type Row = Awaited<ReturnType<ExperimentStore['listPositions']>>[number]
  if (arm === null) return client.$queryRawUnsafe<Row[]>(plainPositionsSql, workspaceId, uuid)
  return client.$queryRawUnsafe<Row[]>(positionsSql, workspaceId, uuid, arm)
}

export async function shownRows(
  client: DatabaseClient,
  { workspaceId, uuid, positions }: Place & { positions: readonly number[] },
): Promise<ShownRow[]> {
  const items = await client.$queryRawUnsafe<ItemRow[]>(itemsOfRows, workspaceId, uuid, [...positions])
  const scores = await readScores(client, workspaceId, uuid, positions)
  const uuids = [...new Set(items.map(({ exampleUuid }) => exampleUuid))]
  const examples = await client.example.findMany({ where: { workspaceId, uuid: { in: uuids } } })
  const byUuid = new Map(examples.map((example) => [example.uuid, example]))
  const rows = new Map<string, ShownRow>()
  for (const item of items) {
    const { exampleUuid, name, position, rowHash } = item
    const example = byUuid.get(exampleUuid)
    const row = rows.get(exampleUuid) ?? {
      ...{ exampleUuid, name, position, items: [], tags: example?.tags ?? [] },
      parameters: example ? fromJson<Record<string, unknown>>(example.parameters) : null,
      expected: example?.expected ?? null,
      hasChanged: !example || rowHashOf(inputsOf(example)) !== rowHash,
    }
    rows.set(exampleUuid, row)
    row.items.push(toShownItem(item, scores))
  }
  return [...rows.values()]
}

type ExampleRow = Awaited<ReturnType<DatabaseClient['example']['findMany']>>[number]

function inputsOf({ parameters, messages, toolResults }: ExampleRow) {
  return {
    parameters: fromJson<Record<string, unknown>>(parameters),
    messages: fromJson<Message[]>(messages),
    toolResults: fromJson<Record<string, CannedResult[]>>(toolResults),
  }
}

function toShownItem(item: ItemRow, scores: Scores): ShownItem {
  const { uuid, arm, exampleUuid, trial, attempt, code, costUsd, durationMs, answer, isDropped, conversationUuid } =
    item
  const outcome = outcomes[item.state] ?? 'failed'
  const found = scores.get(conversationUuid)
  return {
    ...{ uuid, arm, exampleUuid, trial, attempt, code, costUsd, durationMs, answer, isDropped },
    state: outcome === 'row-changed' ? 'failed' : outcome,
    conversationUuid: item.isStarted ? conversationUuid : null,
    scores: found?.scores ?? {},
    reasons: found?.reasons ?? {},
  }
}
