/** Reads the rows of an experiment one by one, because those of a prompt may have 16 MB. */
import { refuse } from '../../../shared/app-error.ts'
import type { Caller } from '../../../shared/caller.ts'
import type { Needs } from '../../deps.ts'
import type { Example } from '../../examples/example.ts'
import type { ExperimentItem } from '../experiment.ts'
import { attemptUuid, itemUuid, rowHashOf } from './fingerprint.ts'

/** A row without its values. */
export interface RowHead {
  uuid: string
  name: string
  hash: string
}

interface RowFilter {
  caller: Pick<Caller, 'workspaceId'>
  projectId: number
  documentUuid: string
  tag: string | null
  examples?: readonly string[] | undefined
}

/**
 * @param check is called with each row. @throws AppError NotFoundError for an unknown row; UnprocessableEntityError
 * without rows; errors of `check`.
 */
export async function readRows(
  { stores }: Needs<'stores'>,
  { caller, projectId, documentUuid, tag, examples }: RowFilter,
  check: (row: Example) => void,
): Promise<RowHead[]> {
  const asked = examples && new Set(examples.map((uuid) => uuid.toLowerCase()))
  const rows: RowHead[] = []
  for await (const row of stores.examples.list(caller.workspaceId, projectId, documentUuid)) {
    if (asked && !asked.delete(row.uuid)) continue
    if (tag !== null && !row.tags.includes(tag)) continue
    check(row)
    rows.push({ uuid: row.uuid, name: row.name, hash: rowHashOf(row) })
  }
  if (asked && asked.size > 0) throw refuse('unknown-example')
  if (rows.length === 0) throw refuse('no-rows')
  return rows
}

interface ItemPlan {
  experimentUuid: string
  arms: number
  trials: number
  firstPosition?: number
}

/** Row by row, so that an experiment that ends early has run all arms on the same rows. */
export function itemsOf(
  { experimentUuid, arms, trials, firstPosition = 0 }: ItemPlan,
  rows: readonly RowHead[],
): ExperimentItem[] {
  const range = (count: number) => [...Array(count).keys()]
  return rows.flatMap((row, index) =>
    range(trials).flatMap((trial) =>
      range(arms).map((arm): ExperimentItem => {
        const uuid = itemUuid(experimentUuid, arm, row.uuid, trial + 1)
        return {
          ...{ uuid, arm, exampleUuid: row.uuid, rowHash: row.hash, rowName: row.name },
          ...{ position: firstPosition + index, trial: trial + 1, attempt: 1 },
          ...{ conversationUuid: attemptUuid(uuid, 1), startedAt: null, code: null },
        }
      }),
    ),
  )
}
