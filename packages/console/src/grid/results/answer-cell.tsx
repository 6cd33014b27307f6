import type { Experiment, ExperimentItem, ExperimentRow } from '@stet/contract/vocabulary'
import { lazy, memo, Suspense } from 'react'
import { AnswerText } from '../../runs/output/answer-text.tsx'
import { Hidden, join } from '../../ui/button.tsx'
import { Chip } from '../../ui/mark.tsx'
import { costText, durationText } from '../../ui/time.tsx'
import css from '../grid.module.css'
import { itemsOf, markOf, shownItem } from './grid-model.ts'

const WordDiff = lazy(() => import('../../editor/diff/word-diff.tsx'))

interface AnswerCellProps {
  experiment: Pick<Experiment, 'evaluations'>
  row: ExperimentRow
  at: number
  arm: number
  label: string
  evaluation: string | null
  isCurrent: boolean
  isRaw: boolean
  showsDifference: boolean
}

/** What an arm answered to a row, how it was scored, and what it took. */
export const AnswerCell = memo(function AnswerCell(props: AnswerCellProps) {
  const { experiment, row, at, arm, label, evaluation, isCurrent, isRaw, showsDifference } = props
  const items = itemsOf(row, arm)
  const item = shownItem(items, evaluation)
  const base = arm > 0 && showsDifference ? shownItem(itemsOf(row, 0), evaluation)?.answer : undefined
  return (
    <td
      className={css['cell']}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: arrow keys move between the cells
      role="gridcell"
      aria-colindex={arm + 2}
      tabIndex={isCurrent ? 0 : -1}
      data-cell={`${at}-${arm}`}
      data-state={item?.state}
    >
      <p className={css['armName']}>{label}</p>
      <div className={css['answer']} data-scrolls>
        {item && <Answer {...{ item, base, isRaw }} />}
      </div>
      <div className={join(css['flow'], css['foot'])}>
        {experiment.evaluations.map(({ uuid, name }) => (
          <Marks key={uuid} {...{ uuid, items }} name={name} hasName={experiment.evaluations.length > 1} />
        ))}
        {item && <span className={css['aside']}>{figuresOf(item)}</span>}
      </div>
    </td>
  )
})

interface AnswerProps {
  item: ExperimentItem
  /** The baseline's answer, if the difference is shown. */
  base: string | null | undefined
  isRaw: boolean
}

function Answer({ item, base, isRaw }: AnswerProps) {
  const { state, answer, code, isAnswerDropped } = item
  const failure = state === 'failed' && <Chip tone="red">{code ?? 'failed'}</Chip>
  const quiet = (text: string) => <p className={css['quiet']}>{text}</p>
  if (state === 'waiting') return quiet('Waiting')
  if (state === 'running') return quiet('Running…')
  if (isAnswerDropped) return quiet('The answer was dropped. Its scores stay.')
  if (!answer) return failure || quiet('No text')
  return (
    <>
      {failure}
      {typeof base === 'string' ? (
        <Suspense fallback={answer}>
          <WordDiff before={base} after={answer} />
        </Suspense>
      ) : (
        <AnswerText text={startOf(answer)} isRaw={isRaw} />
      )}
    </>
  )
}

/** Six lines hold less than this. Formatting the rest of hundreds of answers would block the page. */
const longestShown = 1200

/** An object is a tree, of which only the lines in view are rendered. */
function startOf(answer: string): string {
  const isWhole = answer.length <= longestShown || /^\s*[[{]/.test(answer)
  return isWhole ? answer : `${answer.slice(0, longestShown)}…`
}

interface MarksProps {
  uuid: string
  name: string
  items: readonly ExperimentItem[]
  hasName: boolean
}

/** One sign for each trial. */
function Marks({ uuid, name, items, hasName }: MarksProps) {
  const ended = items.filter(({ state }) => state === 'ended' || state === 'failed')
  return (
    <>
      {hasName && ended.length > 0 && <span className={css['markName']}>{name}</span>}
      {ended.map(({ uuid: itemUuid, scores }) => {
        const { sign, tone, text, isLabel } = markOf(scores, uuid, name)
        return (
          <span key={itemUuid} className={css['tone']} data-tone={tone} data-label={isLabel || undefined} title={text}>
            <span aria-hidden="true">{sign}</span>
            <Hidden>{text}</Hidden>
          </span>
        )
      })}
    </>
  )
}

function figuresOf({ costUsd, durationMs }: ExperimentItem): string {
  const figures = [costUsd !== null && costText(costUsd), durationMs !== null && durationText(durationMs)]
  return figures.filter(Boolean).join(' · ')
}
