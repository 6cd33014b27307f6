import type { Example, Experiment, ExperimentItem, ExperimentRow, NewItemScore, Stet } from '@stet/sdk'
import type { ScorerArgs } from '@stet/sdk/eval'
import type { Context } from '../../context.ts'
import { showProgress } from '../../ui/progress.ts'
import type { EvalFile } from './load-eval-file.ts'
import { readRows } from './report/read-result.ts'

const SCORES_PER_REQUEST = 500
const CONCURRENCY = 8

/** Runs the scorers of a file on the answers of an experiment that has ended, and stores what they found. */
export async function scoreAnswers(client: Stet, experiment: Experiment, file: EvalFile, ctx: Context): Promise<void> {
  const rows = await readRows(client, experiment.uuid)
  const examples = new Map((await client.examples.list(experiment.documentUuid)).map((one) => [one.uuid, one]))
  const work = rows.flatMap((row) => row.items.map((item) => ({ row, item, example: examples.get(row.exampleUuid) })))
  const scores: NewItemScore[] = []
  await showProgress(ctx, 'answers scored', async (onProgress) => {
    let done = 0
    const queue = work.values()
    const slots = Array.from({ length: CONCURRENCY }, async () => {
      for (const { row, item, example } of queue) {
        scores.push(...(await scoresOf(client, file, { row, item, example })))
        done += 1
        onProgress(done, work.length)
      }
    })
    await Promise.all(slots)
  })
  for (let at = 0; at < scores.length; at += SCORES_PER_REQUEST)
    await client.experiments.scores(experiment.uuid, scores.slice(at, at + SCORES_PER_REQUEST))
}

interface Answered {
  row: ExperimentRow
  item: ExperimentItem
  example: Example | undefined
}

async function scoresOf(client: Stet, { name, definition }: EvalFile, answered: Answered): Promise<NewItemScore[]> {
  const { item } = answered
  const same = (verdict: Pick<NewItemScore, 'passed' | 'code'>): NewItemScore[] =>
    Object.keys(definition.scorers).map((scorer) => ({
      itemUuid: item.uuid,
      evaluation: `${name}:${scorer}`,
      ...verdict,
    }))
  // A prompt that fails by itself fails every scorer. The server decides so for the other evaluations.
  if (item.state === 'failed' && hasFailedItself(item)) return same({ passed: false })
  const args = await argsOf(client, answered)
  if (typeof args === 'string') return same({ passed: null, code: args })
  const { runScorers } = await import('@stet/sdk/eval')
  const verdicts = await runScorers(definition, args)
  return verdicts.map(({ scorer, ...verdict }) => ({
    itemUuid: item.uuid,
    evaluation: `${name}:${scorer}`,
    ...verdict,
  }))
}

const ownFailures = [
  'invalid_response_format_error',
  'max_step_count_exceeded_error',
  'chain_compile_error',
  'document_config_error',
]

function hasFailedItself({ code, scores }: ExperimentItem): boolean {
  return ownFailures.includes(code ?? '') || scores.some(({ by, passed }) => by === 'auto' && passed === false)
}

/** What the scorers read, or the code of an answer that cannot be scored. */
async function argsOf(client: Stet, { row, item, example }: Answered): Promise<ScorerArgs | string> {
  const { conversationUuid } = item
  if (item.state !== 'ended' || conversationUuid === null) return item.code ?? 'not-run'
  // The inputs of the run are gone, so that a scorer would read others.
  if (row.hasChanged || row.parameters === null) return 'row-changed'
  if (item.isAnswerDropped) return 'answer-dropped'
  const { response } = await client.runs.attach<unknown>(conversationUuid, { stream: false })
  const { object, text, toolCalls } = response
  return {
    input: row.parameters,
    parameters: row.parameters,
    messages: example?.messages ?? [],
    output: text,
    object,
    expected: expectedOf(row.expected, object !== undefined),
    toolCalls,
    run: { conversationUuid, costUsd: item.costUsd, durationMs: item.durationMs },
  }
}

/** Scorers of text read text. A structured answer is compared with a value. */
function expectedOf(expected: unknown, isStructured: boolean): ScorerArgs['expected'] {
  if (expected === null || expected === undefined) return undefined
  if (isStructured || typeof expected === 'string') return expected as string
  return JSON.stringify(expected)
}
