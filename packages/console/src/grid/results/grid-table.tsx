import type { Experiment, ExperimentRow } from '@stet/contract/vocabulary'
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { Chip } from '../../ui/mark.tsx'
import { useWindowed } from '../../ui/windowed.ts'
import css from '../grid.module.css'
import type { Range } from '../queries.ts'
import { inputsText, oneLine } from '../rows/answer-texts.ts'
import { Tags } from '../rows/tags.tsx'
import { AnswerCell } from './answer-cell.tsx'
import { type Cell, moved } from './grid-model.ts'

interface GridTableProps {
  experiment: Experiment
  rows: readonly ExperimentRow[]
  /** With those that are not read yet. Undefined if it is not known. */
  count: number | undefined
  evaluation: string | null
  current: Cell
  isRaw: boolean
  showsDifference: boolean
  /** The rows that are rendered. */
  onRange: (range: Range) => void
  onMove: (cell: Cell) => void
  /** ⏎ and a double click. */
  onOpen: (cell: Cell) => void
}

/** As many as Page Down passes. */
const spareRows = 5

/** Rows × arms. Arrows move between the cells, of which only those near the view are rendered. */
export function GridTable(props: GridTableProps) {
  const { experiment, rows, count, evaluation, current, isRaw, showsDifference, onRange, onMove, onOpen } = props
  const { arms } = experiment
  const { list, from, to, before, after } = useWindowed<HTMLTableSectionElement>(rows.length, spareRows)
  useEffect(() => onRange({ from, to }), [onRange, from, to])
  const follow = useFollowedFocus(list, current)
  const onKeyDown = (event: KeyboardEvent) => {
    // A tree in the cell has keys of its own.
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const next = moved(current, event.key, rows.length, arms.length)
    if (next) {
      follow()
      onMove(next)
    } else if (event.key === 'Enter' && (event.target as Element).matches('[data-cell]')) onOpen(current)
    else return
    event.preventDefault()
  }
  const cellAt = (target: EventTarget): Cell | undefined => {
    const [row, arm] = ((target as Element).closest<HTMLElement>('[data-cell]')?.dataset['cell'] ?? '').split('-')
    return row && arm ? { row: Number(row), arm: Number(arm) } : undefined
  }
  return (
    <section className={css['box']} aria-label="Results">
      <table
        className={css['table']}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: arrow keys move between its cells
        role="grid"
        aria-label="Rows and arms"
        aria-rowcount={count === undefined ? -1 : count + 1}
        aria-colcount={arms.length + 1}
        style={{ '--arms': arms.length } as React.CSSProperties}
        onKeyDown={onKeyDown}
        onFocus={({ target }) => {
          const cell = cellAt(target)
          if (cell && (cell.row !== current.row || cell.arm !== current.arm)) onMove(cell)
        }}
        onDoubleClick={({ target }) => {
          const cell = cellAt(target)
          if (cell) onOpen(cell)
        }}
      >
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Row</th>
            {arms.map(({ label }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the arms of an experiment never change
              <th key={at} scope="col">
                {label} {at === 0 && arms.length > 1 && <Chip>baseline</Chip>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={list}>
          {before > 0 && <tr style={{ height: before }} />}
          {rows.slice(from, to).map((row, place) => (
            <tr
              key={row.exampleUuid}
              aria-rowindex={from + place + 2}
              className={css['row']}
              data-line={row.exampleUuid}
            >
              <RowHead row={row} />
              {arms.map(({ label }, arm) => (
                <AnswerCell
                  // biome-ignore lint/suspicious/noArrayIndexKey: the arms of an experiment never change
                  key={arm}
                  {...{ experiment, row, arm, label, evaluation, isRaw, showsDifference }}
                  at={from + place}
                  isCurrent={current.row === from + place && current.arm === arm}
                />
              ))}
            </tr>
          ))}
          {after > 0 && <tr style={{ height: after }} />}
        </tbody>
      </table>
    </section>
  )
}

function RowHead({ row: { name, tags, parameters, expected, hasChanged } }: { row: ExperimentRow }) {
  return (
    <th scope="row" className={css['rowHead']}>
      <p>{name}</p>
      {(tags.length > 0 || hasChanged) && (
        <div className={css['flow']}>
          <Tags tags={tags} />
          {hasChanged && <Chip>{parameters ? 'edited since' : 'deleted since'}</Chip>}
        </div>
      )}
      {parameters && <p>{inputsText(parameters)}</p>}
      {expected != null && <p>Expected: {oneLine(expected)}</p>}
    </th>
  )
}

/** Moves the focus with the current cell, once it is rendered. Returns the function that asks for it. */
function useFollowedFocus(list: RefObject<HTMLElement | null>, { row, arm }: Cell): () => void {
  const isWanted = useRef(false)
  useLayoutEffect(() => {
    if (!isWanted.current) return
    isWanted.current = false
    const cell = list.current?.querySelector<HTMLElement>(`[data-cell="${row}-${arm}"]`)
    cell?.focus({ preventScroll: true })
    cell?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [list, row, arm])
  return () => {
    isWanted.current = true
  }
}
