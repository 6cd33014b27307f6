import type { Experiment, ExperimentRow, Report } from '@stet/contract/vocabulary'
import { hasReason } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, startTransition, useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { stet, useBlocked } from '../../app/session.ts'
import { useShortcut } from '../../app/shortcuts.ts'
import { Button, join } from '../../ui/button.tsx'
import { CheckField } from '../../ui/field.tsx'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { costText } from '../../ui/time.tsx'
import { say } from '../../ui/toast.tsx'
import css from '../grid.module.css'
import { experimentQuery, experimentsQuery, reportQuery, useRows } from '../queries.ts'
import { CellBar } from './cell-bar.tsx'
import { type Cell, itemsOf, labeledBy, rowsOf, shownItem, type View } from './grid-model.ts'
import { GridTable } from './grid-table.tsx'
import { Headline } from './headline.tsx'
import { useCellChanges } from './use-cell-changes.ts'

interface ResultsViewProps {
  uuid: string
  /** Shows another experiment, for example that of a row that runs again. */
  onExperiment: (uuid: string) => void
  /** Beside the state: other experiments, "Run again". */
  beside?: ReactNode
}

/** The results of an experiment: what broke and what was fixed, and every answer. */
export function ResultsView({ uuid, onExperiment, beside }: ResultsViewProps) {
  const { data: experiment, error, refetch } = useQuery(experimentQuery(uuid))
  if (!experiment)
    return error ? (
      <Failure error={error} what="The experiment could not be loaded" onRetry={() => void refetch()} />
    ) : (
      <Skeleton lines={8} />
    )
  return <Results key={uuid} {...{ experiment, onExperiment }} beside={beside} />
}

interface ResultsProps extends Omit<ResultsViewProps, 'uuid'> {
  experiment: Experiment
}

function Results({ experiment, onExperiment, beside }: ResultsProps) {
  const [view, setView] = useState<View>({ filter: undefined, arm: experiment.arms.length - 1, evaluation: null })
  const report = useQuery(reportQuery(experiment, view.evaluation))
  return (
    <div className={css['stack']}>
      <Progress experiment={experiment} beside={beside} />
      <Headline
        {...{ experiment, view }}
        report={report.data}
        onView={(change) => setView((now) => ({ ...now, ...change }))}
      />
      {report.error && <Failure error={report.error} what="The result could not be read" onRetry={report.refetch} />}
      <Answers key={JSON.stringify(view)} {...{ experiment, view, onExperiment }} report={report.data} />
    </div>
  )
}

function Progress({ experiment, beside }: { experiment: Experiment; beside: ReactNode }) {
  const { uuid, projectId, documentUuid, state, reason, counts, costUsd, budgetUsd, tag, trials } = experiment
  const client = useQueryClient()
  const needsRun = useBlocked('run')
  const isRunning = state === 'running'
  // With the budget that is spent it would stop at once.
  const more = reason === 'budget' && costUsd + budgetUsd
  const resume = async () => {
    if (!more) return stet.experiments.resume(uuid)
    return stet.experiments.resume(uuid, { budgetUsd: more }).catch((error: unknown) => {
      // The most that the server allows may still be more than what is spent.
      const limit = hasReason(error, 'budget-too-high') ? error.details.limit : 0
      if (limit <= costUsd) throw error
      return stet.experiments.resume(uuid, { budgetUsd: limit })
    })
  }
  const change = useMutation({
    mutationFn: async () => (isRunning ? stet.experiments.stop(uuid) : resume()),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries(experimentQuery(uuid)),
        client.invalidateQueries(experimentsQuery(projectId, documentUuid)),
      ]),
  })
  const ended = counts.ended + counts.failed
  const facts = [
    state === 'completed' ? `${counts.total} answers` : `${ended} of ${counts.total} answers`,
    isRunning && `${costText(costUsd)} of ${costText(budgetUsd)}`,
    tag && `tag ${tag}`,
    trials > 1 && `${trials} trials`,
  ]
  return (
    <div className={css['flow']}>
      <p role="status">{facts.filter(Boolean).join(', ')}</p>
      {isRunning && <progress value={ended} max={counts.total} aria-label="Answers" />}
      <span className={join(css['flow'], css['aside'])}>
        {state !== 'completed' && (
          <Button blocked={needsRun} busy={change.isPending} onClick={() => change.mutate()}>
            {isRunning ? 'Stop' : more ? `Resume with a budget of ${costText(more)}` : 'Resume'}
          </Button>
        )}
        {beside}
      </span>
      {change.error && <Failure error={change.error} what="The experiment was not changed" />}
    </div>
  )
}

interface AnswersProps {
  experiment: Experiment
  view: View
  report: Report | undefined
  onExperiment: (uuid: string) => void
}

function Answers({ experiment, view: { filter, arm, evaluation }, report, onExperiment }: AnswersProps) {
  const [range, setRange] = useState({ from: 0, to: 0 })
  const search = filter ? { filter, arm: String(arm), ...(evaluation && { evaluationUuid: evaluation }) } : {}
  const { rows, isPending, isWhole, error, retry } = useRows(experiment, search, range)
  const [chosen, setChosen] = useState<Cell>({ row: 0, arm: experiment.arms.length - 1 })
  const [showsDifference, setShowsDifference] = useState(false)
  const [isRaw, setRaw] = useState(false)
  // Until the report says what counts, a label without a choice has no place.
  const labeled = report || evaluation ? labeledBy(experiment, report?.evaluations ?? [], evaluation) : null
  const navigate = useNavigate()
  const changes = useCellChanges(experiment, labeled)
  const again = useAgain(experiment, onExperiment)
  const current = { ...chosen, row: Math.max(0, Math.min(chosen.row, rows.length - 1)) }
  const row = rows[current.row]
  const item = row && shownItem(itemsOf(row, current.arm), evaluation)
  const open = (cell: Cell) => {
    const at = rows[cell.row]
    const run = at && shownItem(itemsOf(at, cell.arm), evaluation)?.conversationUuid
    if (run) void navigate({ to: '/runs/$run', params: { run } })
  }
  const isCompared = experiment.arms.length > 1
  // The words of many answers are compared, between which the page stays responsive.
  const compare = (is: boolean) => startTransition(() => setShowsDifference(is))
  useShortcut({
    keys: 'd',
    label: 'Show the difference to the baseline',
    group: 'Results',
    blocked: !isCompared && 'there is one arm',
    run: () => compare(!showsDifference),
  })
  if (error && rows.length === 0) return <Failure error={error} what="The answers could not be read" onRetry={retry} />
  if (rows.length === 0) return isPending ? <Skeleton lines={8} /> : <Empty line="No rows match." />
  return (
    <div className={join(css['stack'], css['grid'])} data-keeps-focus='[data-cell][tabindex="0"]'>
      <div className={css['flow']}>
        {isCompared && (
          <CheckField
            label="Difference to the baseline"
            checked={showsDifference}
            onChange={({ target }) => compare(target.checked)}
          />
        )}
        <CheckField label="As written" checked={isRaw} onChange={({ target }) => setRaw(target.checked)} />
      </div>
      <GridTable
        {...{ experiment, rows, evaluation, current, isRaw, showsDifference }}
        count={isWhole ? rows.length : filter ? undefined : rowsOf(experiment)}
        onRange={setRange}
        onMove={setChosen}
        onOpen={open}
      />
      {error && <Failure error={error} what="More answers could not be read" onRetry={retry} />}
      {row && <CellBar {...{ experiment, row, item, changes }} onOpen={() => open(current)} onAgain={again.mutate} />}
      {again.error && <Failure error={again.error} what="The row did not run again" />}
    </div>
  )
}

/** The same arms over one row. Its result does not replace the one in this grid. */
function useAgain({ projectId, path, arms, trials }: Experiment, onExperiment: (uuid: string) => void) {
  return useMutation({
    mutationFn: ({ exampleUuid }: ExperimentRow) =>
      Promise.resolve(
        stet.experiments.create(
          {
            path,
            arms: arms.map(({ fingerprint: _, overrides, ...arm }) => ({ ...arm, ...(overrides && { overrides }) })),
            examples: [exampleUuid],
            trials,
          },
          { projectId },
        ),
      ),
    onSuccess: ({ uuid }, { name }) => say(`${name} runs again`, { label: 'Show', onSelect: () => onExperiment(uuid) }),
  })
}
