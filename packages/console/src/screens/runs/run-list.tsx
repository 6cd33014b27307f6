import type { Run, Version } from '@stet/sdk'
import { Link } from '@tanstack/react-router'
import {
  type Dispatch,
  memo,
  type ReactNode,
  type RefObject,
  type SetStateAction,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react'
import { useRowKeys, useShortcuts } from '../../app/shortcuts.ts'
import { runCost, runDuration, runFirstToken, runTokens } from '../../runs/run-figures.ts'
import { RunState, Tags } from '../../runs/run-state.tsx'
import { Hidden } from '../../ui/button.tsx'
import { withSigns } from '../../ui/hidden-characters.ts'
import layout from '../../ui/styles/layout.module.css'
import { Time } from '../../ui/time.tsx'
import { useWindowed } from '../../ui/windowed.ts'
import { versionName } from './filters.ts'
import { listOrder } from './list-order.ts'
import css from './runs.module.css'

interface RunListProps {
  rows: readonly Run[]
  versions: readonly Version[] | undefined
  /** The uuids of the selected runs. */
  selected: ReadonlySet<string>
  onSelect: Dispatch<SetStateAction<ReadonlySet<string>>>
  /** The last rows are in view. */
  onEnd: () => void
}

interface Column {
  name: string
  /** Without one, the column takes the room that is left. */
  width?: string
  cell: (run: Run, version: string) => ReactNode
}

const columns: readonly Column[] = [
  { name: 'State', width: '6rem', cell: ({ status }) => <RunState status={status} /> },
  {
    name: 'Prompt',
    cell: ({ uuid, path }, version) => (
      <>
        <Link to="/runs/$run" params={{ run: uuid }} className={css['link']} data-row>
          {path}
        </Link>
        <span className={layout['quiet']}> @ {version}</span>
      </>
    ),
  },
  { name: 'Model', width: '8.5rem', cell: ({ model }) => model && withSigns(model) },
  { name: 'Time', width: '6.5rem', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { name: 'Duration', width: '5rem', cell: runDuration },
  { name: 'First token', width: '5rem', cell: runFirstToken },
  { name: 'Tokens', width: '8.25rem', cell: runTokens },
  { name: 'Cost', width: '6rem', cell: runCost },
  { name: 'Author', width: '5.5rem', cell: ({ author }) => author?.name },
  { name: 'Identifier', width: '6.5rem', cell: ({ customIdentifier }) => withSigns(customIdentifier ?? '') },
  { name: 'Tags', width: '6.5rem', cell: (run) => <Tags run={run} /> },
]

/** The runs as a table of which only the rows in view are rendered. */
export function RunList({ rows, versions, selected, onSelect, onEnd }: RunListProps) {
  const { list, from, to, before, after, rowHeight } = useWindowed<HTMLTableSectionElement>(rows.length)
  const box = useRef<HTMLElement>(null)
  useRowKeys(box, 'Runs')
  const toggle = useCallback(
    (uuid: string) =>
      onSelect((now) => {
        const next = new Set(now)
        if (!next.delete(uuid)) next.add(uuid)
        return next
      }),
    [onSelect],
  )
  useShortcuts([
    {
      keys: 'x',
      label: 'Select the run',
      group: 'Runs',
      inPalette: false,
      run: () => {
        const uuid = document.activeElement?.closest<HTMLElement>('[data-line]')?.dataset['line']
        if (uuid) toggle(uuid)
      },
    },
  ])
  useEffect(() => {
    if (to >= rows.length) onEnd()
  }, [to, rows.length, onEnd])
  useReturn(box, rows, rowHeight)
  return (
    <section ref={box} className={css['list']} aria-label="Runs" tabIndex={-1} data-keeps-focus="">
      <table className={css['table']} aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" className={css['check']}>
              <Hidden>Selected</Hidden>
            </th>
            {columns.map(({ name, width }) => (
              <th key={name} scope="col" data-column={name} style={{ width }}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={list}>
          {before > 0 && <tr style={{ height: before }} />}
          {rows.slice(from, to).map((run, place) => (
            <Row
              key={run.uuid}
              run={run}
              at={from + place}
              version={versionName(versions, run.versionUuid)}
              isSelected={selected.has(run.uuid)}
              onToggle={toggle}
            />
          ))}
          {after > 0 && <tr style={{ height: after }} />}
        </tbody>
      </table>
    </section>
  )
}

interface RowProps {
  run: Run
  at: number
  version: string
  isSelected: boolean
  onToggle: (uuid: string) => void
}

const Row = memo(function Row({ run, at, version, isSelected, onToggle }: RowProps) {
  const { uuid, status, path } = run
  return (
    <tr aria-rowindex={at + 2} className={css['row']} data-line={uuid} data-state={status} data-selected={isSelected}>
      <td className={css['check']}>
        <input
          type="checkbox"
          aria-label={`Select the run of ${path}`}
          checked={isSelected}
          onChange={() => onToggle(uuid)}
        />
      </td>
      {columns.map(({ name, cell }) => (
        <td key={name} data-column={name}>
          {cell(run, version)}
        </td>
      ))}
    </tr>
  )
})

/** From a run that was opened, the reader comes back to its row. */
function useReturn(box: RefObject<HTMLElement | null>, rows: readonly Run[], rowHeight: number): void {
  const wanted = useRef(listOrder.get().opened)
  useLayoutEffect(() => {
    if (wanted.current === null || rowHeight === 0) return
    const uuid = wanted.current
    const at = rows.findIndex((run) => run.uuid === uuid)
    wanted.current = null
    // Another filter makes another list, and must not move the focus again.
    listOrder.set({ ...listOrder.get(), opened: null })
    if (at < 0 || !box.current) return
    box.current.closest('[data-screen]')?.scrollTo({ top: Math.max(0, (at - 4) * rowHeight) })
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-line="${uuid}"] a`)?.focus())
  }, [box, rows, rowHeight])
}
