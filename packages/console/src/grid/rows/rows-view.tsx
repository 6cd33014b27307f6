import type { Experiment } from '@stet/contract/vocabulary'
import type { Example, Prompt } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ComponentProps, type ReactNode, useMemo, useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { examplesQuery } from '../../app/queries.ts'
import { stet, useBlocked } from '../../app/session.ts'
import { inputsOf } from '../../runs/inputs/input-value.ts'
import { Button, join } from '../../ui/button.tsx'
import { Code } from '../../ui/copy.tsx'
import { inputClass } from '../../ui/field.tsx'
import { Empty } from '../../ui/states.tsx'
import { counted } from '../../ui/time.tsx'
import css from '../grid.module.css'
import { reportQuery, useRows } from '../queries.ts'
import { itemsOf, rowVerdictOf } from '../results/grid-model.ts'
import { PasteRows } from './paste-rows.tsx'
import { RowTable } from './row-table.tsx'

/** So many examples are shown, until more are asked for. */
const shownAtOnce = 100

interface RowsViewProps extends Pick<ComponentProps<typeof RowTable>, 'projectId' | 'rows' | 'onRun'> {
  document: Prompt
  /** The newest completed experiment, whose results are shown. */
  completed: Experiment | undefined
  /** Further actions, for example "Run all". */
  children: ReactNode
}

/** All examples of a prompt, with the ways to get more of them. */
export function RowsView({ projectId, document, rows, completed, onRun, children }: RowsViewProps) {
  const { documentUuid, path } = document
  const blocked = useBlocked('write')
  const inputs = useMemo(() => inputsOf(document), [document])
  const [search, setSearch] = useState('')
  const [isPasting, setPasting] = useState(false)
  const [shown, setShown] = useState(shownAtOnce)
  const { add, remove, error } = useExamples(projectId, documentUuid)
  const found = useMemo(() => rows.filter((row) => isFound(row, search.trim().toLowerCase())), [rows, search])
  // An experiment has the rows in the order of the examples.
  const last = found[Math.min(shown, found.length) - 1]
  const resultOf = useLastResults(completed, last ? rows.indexOf(last) + 1 : 0)
  const ways = (
    <>
      <Button blocked={blocked} onClick={() => add(rows)}>
        New example
      </Button>
      <Button blocked={blocked} onClick={() => setPasting(true)}>
        Import CSV
      </Button>
    </>
  )
  return (
    <>
      {rows.length === 0 ? (
        <Empty line="Examples show what a change breaks and fixes.">
          <p className={css['flow']}>{ways}</p>
          <p>
            Or save some from{' '}
            <Link to="/p/$project/runs" params={{ project: String(projectId) }} search={{ documentUuid }}>
              the runs of this prompt
            </Link>
            , or import a CSV, JSONL or promptfoo file:
          </p>
          <Code text={`stet examples import rows.csv ${path}`} label="command" />
        </Empty>
      ) : (
        <>
          <div className={css['flow']}>
            <input
              type="search"
              className={inputClass}
              aria-label="Filter by name or tag"
              placeholder="Filter by name or tag"
              value={search}
              onChange={({ target }) => setSearch(target.value)}
            />
            <span className={css['quiet']} role="status">
              {search ? `${found.length} of ${counted(rows.length, 'example')}` : counted(rows.length, 'example')}
            </span>
            <span className={join(css['flow'], css['aside'])}>
              {ways}
              {children}
            </span>
          </div>
          <RowTable
            {...{ projectId, resultOf, onRun, shown }}
            rows={found}
            onDelete={remove}
            onMore={() => setShown(shown + shownAtOnce)}
          />
        </>
      )}
      {error && <Failure error={error} what="The example was not created" />}
      {isPasting && (
        <PasteRows {...{ projectId, documentUuid, inputs }} examples={rows} onClose={() => setPasting(false)} />
      )}
    </>
  )
}

function isFound({ name, tags }: Example, search: string): boolean {
  return name.toLowerCase().includes(search) || tags.some((tag) => tag.toLowerCase() === search)
}

/** What the last arm of an experiment answered to its first rows: passes, fails, or not scored. */
function useLastResults(experiment: Experiment | undefined, to: number) {
  const { rows } = useRows(experiment, {}, { from: 0, to })
  const { data: report } = useQuery({ ...reportQuery(experiment, null), enabled: experiment !== undefined })
  const last = (experiment?.arms.length ?? 0) - 1
  const items = new Map(rows.map((row) => [row.exampleUuid, itemsOf(row, last)]))
  return ({ uuid }: Example): ReactNode => {
    const answers = items.get(uuid)
    if (!answers || !report) return null
    const passed = rowVerdictOf(answers, report.evaluations)
    if (passed === null) return 'not scored'
    return (
      <span className={css['tone']} data-tone={passed ? 'pass' : 'fail'}>
        {passed ? '✓ passes' : '✗ fails'}
      </span>
    )
  }
}

function useExamples(projectId: number, documentUuid: string) {
  const client = useQueryClient()
  const reload = () => client.invalidateQueries(examplesQuery(projectId, documentUuid))
  const { mutate, error } = useMutation({
    mutationFn: (rows: readonly Example[]) => {
      const name = freeName(rows.map((row) => row.name))
      return Promise.resolve(stet.examples.create({ documentUuid, name, parameters: {} }, { projectId }))
    },
    onSuccess: reload,
  })
  return {
    add: mutate,
    error,
    remove: async ({ uuid }: Example) => {
      await stet.examples.delete(uuid, { projectId })
      await reload()
    },
  }
}

function freeName(names: readonly string[]): string {
  let number = names.length + 1
  while (names.includes(`Example ${number}`)) number++
  return `Example ${number}`
}
