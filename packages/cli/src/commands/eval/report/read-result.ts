import type { Report } from '@stet/contract/vocabulary'
import type { Experiment, ExperimentItem, ExperimentRow, Stet } from '@stet/sdk'
import { type EvalResult, type NotedRow, outcomeOf } from './eval-result.ts'
import type { TestedRow } from './junit.ts'

/** The largest page. */
const ROWS_PER_PAGE = 100

/** Reads the report, and the rows that broke, or without a baseline those that failed, with their reasons. */
export async function readResult(client: Stet, experiment: Experiment): Promise<EvalResult & { tested: TestedRow[] }> {
  const report = await client.experiments.report(experiment.uuid)
  const rows = await readRows(client, experiment.uuid)
  const tested = armsIn(report).flatMap((arm) => rows.map((row) => testedRow(row, arm, report)))
  const kind = report.pairs.length > 0 ? 'broke' : 'failed'
  const byUuid = new Map(rows.map((row) => [row.exampleUuid, row]))
  const noted = tested.flatMap(({ state, exampleUuid, arm }) => {
    const row = state === kind ? byUuid.get(exampleUuid) : undefined
    return row ? notedRow(row, { kind, arm, report }) : []
  })
  noted.sort((one, other) => one.arm - other.arm || Number(other.must) - Number(one.must))
  return { experiment, report, rows: noted, tested, gates: [], ...outcomeOf(experiment, report, noted) }
}

/** Reads all rows of an experiment, each with the items of all arms. */
export async function readRows({ experiments }: Stet, uuid: string): Promise<ExperimentRow[]> {
  const rows: ExperimentRow[] = []
  for await (const row of experiments.items(uuid, { limit: ROWS_PER_PAGE })) rows.push(row)
  return rows
}

/** Without a comparison, the only arm. */
function armsIn({ pairs }: Report): number[] {
  return pairs.length > 0 ? pairs.map(({ arm }) => arm) : [0]
}

function testedRow({ exampleUuid, name, items }: ExperimentRow, arm: number, report: Report): TestedRow {
  const counting = countingIn(report)
  const [baseline, result] = [0, arm].map((one) => resultOf(items, one, counting))
  const failed =
    report.pairs.length === 0 ? 'failed' : baseline === undefined ? 'unpaired' : baseline ? 'broke' : 'failed'
  const ms = items.filter((item) => item.arm === arm).reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0)
  const state = result === undefined ? 'unscored' : result ? 'passed' : failed
  return { exampleUuid, name, arm, state, seconds: ms / 1000 }
}

function countingIn({ evaluations }: Report): Map<string, string> {
  return new Map(evaluations.flatMap(({ uuid, name, counts }) => (counts ? [[uuid, name] as const] : [])))
}

/** The rule of the report: more than half of the scored trials pass. Undefined if no trial has a score. */
function resultOf(items: readonly ExperimentItem[], arm: number, counting: ReadonlyMap<string, string>) {
  const trials = items.filter((item) => item.arm === arm).map((item) => hasPassed(item, counting))
  const scored = trials.filter((passed) => passed !== undefined)
  return scored.length === 0 ? undefined : scored.filter(Boolean).length > scored.length / 2
}

/** Undefined if an evaluation that counts has no score. */
function hasPassed({ scores }: ExperimentItem, counting: ReadonlyMap<string, string>): boolean | undefined {
  const own = scores.filter(({ evaluationUuid, passed }) => counting.has(evaluationUuid) && passed !== null)
  if (counting.size === 0 || own.length < counting.size) return undefined
  return own.every(({ passed }) => passed)
}

function notedRow(
  { exampleUuid, name, tags, items }: ExperimentRow,
  { kind, arm, report }: Pick<NotedRow, 'kind' | 'arm'> & { report: Report },
): NotedRow {
  const counting = countingIn(report)
  const own = items.filter((item) => item.arm === arm)
  const failures = own.flatMap((item) =>
    item.scores.flatMap((score) =>
      score.passed === false && counting.has(score.evaluationUuid) ? { item, score } : [],
    ),
  )
  const [found] = failures
  const item = found?.item ?? own[0]
  return {
    kind,
    arm,
    exampleUuid,
    name,
    must: tags.includes('must'),
    evaluation: found ? (counting.get(found.score.evaluationUuid) ?? null) : null,
    reason: found?.score.reason ?? item?.code ?? null,
    conversationUuid: item?.conversationUuid ?? null,
  }
}
