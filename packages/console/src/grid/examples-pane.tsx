import type { Example, Prompt } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { Failure } from '../app/failure.tsx'
import { examplesQuery } from '../app/queries.ts'
import { useBlocked } from '../app/session.ts'
import { keyText, useShortcut } from '../app/shortcuts.ts'
import { Button, join } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Skeleton } from '../ui/states.tsx'
import { counted, momentText } from '../ui/time.tsx'
import { EvaluationsMenu } from './evaluations-menu.tsx'
import css from './grid.module.css'
import { experimentsQuery } from './queries.ts'
import { Choice } from './results/headline.tsx'
import { ResultsView } from './results/results-view.tsx'
import { RowsView } from './rows/rows-view.tsx'
import { StartDialog } from './start/start-dialog.tsx'
import { useStart } from './start/use-start.ts'

interface ExamplesPaneProps {
  projectId: number
  versionUuid: string
  document: Prompt
  ready: () => Promise<{ versionUuid: string }>
  /** The uuid of the shown experiment, from the page's address. Without it, the examples themselves. */
  experiment: string | undefined
  onExperiment: (uuid: string | undefined) => void
  onRun: (example: Example) => void
}

const runAllKeys = 'mod+shift+Enter'

/** The examples of a prompt, and what its versions answer to them. */
export default function ExamplesPane(props: ExamplesPaneProps) {
  const { projectId, versionUuid, document, ready, experiment, onExperiment, onRun } = props
  const { documentUuid } = document
  const examples = useQuery(examplesQuery(projectId, documentUuid))
  const experiments = useQuery(experimentsQuery(projectId, documentUuid))
  const rows = examples.data ?? []
  const count = rows.length
  const start = useStart({ projectId, versionUuid, document, rows: count, ready, onStarted: onExperiment })
  const completed = experiments.data?.find(({ state }) => state === 'completed')
  const blocked = useBlocked('run') || (count === 0 && 'there are no examples')
  useShortcut({
    keys: runAllKeys,
    label: 'Run all examples',
    group: 'Examples',
    blocked,
    run: () => void start.runAll(),
  })
  if (examples.error)
    return <Failure error={examples.error} what="The examples could not be loaded" onRetry={examples.refetch} />
  if (!examples.data) return <Skeleton lines={6} />
  const newest = experiments.data?.[0]
  const runAll = (
    <>
      <EvaluationsMenu {...{ projectId, documentUuid }} />
      <Button look="quiet" blocked={blocked} onClick={() => void start.ask()}>
        Choose arms
      </Button>
      <Button
        look="primary"
        shortcut={keyText(runAllKeys)}
        blocked={blocked}
        busy={start.isPending}
        onClick={() => void start.runAll()}
      >
        <Icon name="run" /> Run all
      </Button>
    </>
  )
  return (
    <div className={join(css['stack'], css['pane'])}>
      {experiment ? (
        <ResultsView
          uuid={experiment}
          onExperiment={onExperiment}
          beside={
            <>
              <Button look="quiet" onClick={() => onExperiment(undefined)}>
                Edit the {counted(count, 'example')}
              </Button>
              <Choice label="Experiment" value={experiment} onChange={onExperiment}>
                {!experiments.data?.some(({ uuid }) => uuid === experiment) && (
                  <option value={experiment}>This one</option>
                )}
                {experiments.data?.map(({ uuid, createdAt, arms }) => (
                  <option key={uuid} value={uuid}>
                    {momentText(createdAt)}: {arms.map(({ label }) => label).join(', ')}
                  </option>
                ))}
              </Choice>
              {runAll}
            </>
          }
        />
      ) : (
        <RowsView {...{ projectId, document, rows, onRun, completed }}>
          {newest && (
            <Button look="quiet" onClick={() => onExperiment(newest.uuid)}>
              Last results
            </Button>
          )}
          {runAll}
        </RowsView>
      )}
      {start.asked && <StartDialog {...{ projectId, rows, start }} asked={start.asked} />}
    </div>
  )
}
