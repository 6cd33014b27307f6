import type { Run, Version } from '@stet/sdk'
import { Link } from '@tanstack/react-router'
import {
  type Dispatch,
  memo,
  type RefObject,
  type SetStateAction,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
} from 'react'
import { useRowKeys, useShortcuts } from '../../app/shortcuts.ts'
import { runCost, runDuration, runFirstToken, runTokens } from '../../runs/run-figures.ts'
import { RunState } from '../../runs/run-state.tsx'
import { Hidden } from '../../ui/button.tsx'
import { withSigns } from '../../ui/hidden-characters.ts'
import { Chip } from '../../ui/mark.tsx'
import { Time } from '../../ui/time.tsx'
import { useWindowed } from '../../ui/windowed.ts'
import { ownTags, versionName } from './filters.ts'
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

const columns = [
  ...['State', 'Prompt', 'Model', 'Time', 'Duration', 'First token', 'Tokens', 'Cost'],
  ...['Author', 'Identifier', 'Tags'],
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
            {columns.map((name) => (
              <th key={name} scope="col" data-column={name}>
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
  const { uuid, status, path, model, createdAt, author, customIdentifier, tags, feedback } = run
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
      <td data-column="State">
        <RunState status={status} />
      </td>
      <td data-column="Prompt">
        <Link to="/runs/$run" params={{ run: uuid }} className={css['link']} data-row>
          {path}
        </Link>
        <span className={css['quiet']}> @ {version}</span>
      </td>
      <td data-column="Model">{model && withSigns(model)}</td>
      <td data-column="Time">
        <Time at={createdAt} />
      </td>
      <td data-column="Duration">{runDuration(run)}</td>
      <td data-column="First token">{runFirstToken(run)}</td>
      <td data-column="Tokens">{runTokens(run)}</td>
      <td data-column="Cost">{runCost(run)}</td>
      <td data-column="Author">{author?.name}</td>
      <td data-column="Identifier">{customIdentifier && withSigns(customIdentifier)}</td>
      <td data-column="Tags">
        {feedback && <Chip tone={feedback === 'down' ? 'red' : 'green'}>thumbs {feedback}</Chip>}
        {ownTags(tags).map((tag) => (
          <Chip key={tag}>{withSigns(tag)}</Chip>
        ))}
      </td>
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
