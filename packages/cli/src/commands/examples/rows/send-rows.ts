/** Sends rows in batches. Each is one transaction of the server, so a failure leaves the earlier ones done. */
import type { ChangedExamples, ExampleChange, Stet } from '@stet/sdk'
import { CliError, describeFailure } from '../../../exit-code.ts'
import { countOf } from '../../../terminal/output.ts'
import type { NamedRow } from './row.ts'

/** Below the server's limits for a body: bytes, values and different keys. */
const limits = { rows: 200, bytes: 1_000_000, values: 40_000, keys: 4_000 } as const

export interface Target {
  client: Stet
  projectId: number
  documentUuid: string
}

interface Rest {
  /** Uuids of rows to delete. */
  deleted: readonly string[]
  /** Deletes before the first addition, because the prompt would be full otherwise. */
  deletesFirst: boolean
}

/** @throws CliError that says which rows are done */
export async function sendRows(
  { client, projectId, documentUuid }: Target,
  rows: readonly NamedRow[],
  { deleted, deletesFirst }: Rest,
): Promise<ChangedExamples> {
  const total: ChangedExamples = { added: 0, modified: 0, unchanged: 0, deleted: 0 }
  const batches = inBatches(rows)
  if (batches.length === 0 && deleted.length > 0) batches.push([])
  const deleteAt = deletesFirst ? 0 : batches.length - 1
  let done = 0
  for (const [index, batch] of batches.entries()) {
    const changes = batch.map(changeOf)
    const body = { documentUuid, changes, ...(index === deleteAt && deleted.length > 0 && { delete: [...deleted] }) }
    try {
      const counts = await client.examples.batch(body, { projectId })
      for (const key of ['added', 'modified', 'unchanged', 'deleted'] as const) total[key] += counts[key]
    } catch (error) {
      throw await explained(error, { rows, batch, done })
    }
    done += batch.length
  }
  return total
}

async function explained(
  error: unknown,
  { rows, batch, done }: { rows: readonly NamedRow[]; batch: readonly NamedRow[]; done: number },
): Promise<CliError> {
  const { code, message, lines, next } = await describeFailure(error)
  const issues = issuesOf(error).map(({ path: [_changes, index, ...path], message: issue }) => {
    const row = batch[Number(index)]
    return row ? `${row.file}:${row.line}: ${[path.join('.'), issue].join(' ').trim()}` : issue
  })
  const state =
    done === 0
      ? 'Nothing was imported'
      : `${done} of ${countOf(rows.length, 'row')} are imported, up to line ${rows[done - 1]?.line}`
  const hint = done === 0 ? next : 'run the command again: imported rows stay unchanged'
  return new CliError(code, `${issues[0] ?? message}. ${state}`, {
    lines: [...issues.slice(1), ...lines],
    ...(hint !== undefined && { hint }),
    cause: error,
  })
}

interface Issue {
  path: readonly (string | number)[]
  message: string
}

function issuesOf(error: unknown): Issue[] {
  const { issues } = Object((error as { details?: unknown } | null)?.details) as { issues?: unknown }
  return Array.isArray(issues)
    ? (issues as Issue[]).filter(({ path }) => Array.isArray(path) && path[0] === 'changes')
    : []
}

function changeOf({ name, change }: NamedRow): ExampleChange {
  return { name, ...change }
}

export function inBatches(rows: readonly NamedRow[]): NamedRow[][] {
  const batches: NamedRow[][] = []
  let used = { rows: 0, bytes: 0, values: 0, keys: 0 }
  for (const row of rows) {
    const size = sizeOf(changeOf(row))
    const next = {
      rows: used.rows + 1,
      bytes: used.bytes + size.bytes,
      values: used.values + size.values,
      keys: used.keys + size.keys,
    }
    const fits = (Object.keys(limits) as (keyof typeof limits)[]).every((key) => next[key] <= limits[key])
    if (batches.length === 0 || !fits) batches.push([])
    used = batches.at(-1)?.length === 0 ? { rows: 1, ...size } : next
    batches.at(-1)?.push(row)
  }
  return batches
}

function sizeOf(change: ExampleChange): { bytes: number; values: number; keys: number } {
  const size = { bytes: Buffer.byteLength(JSON.stringify(change)), values: 0, keys: 0 }
  const visit = (value: unknown): void => {
    size.values += 1
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) size.keys += Object.keys(value).length
    for (const entry of Object.values(value)) visit(entry)
  }
  visit(change)
  return size
}
