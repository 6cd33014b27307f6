import type { RunOverrides } from '@stet/contract/vocabulary'
import type { Run } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ComponentType, Suspense, useSyncExternalStore } from 'react'
import { stet } from '../../app/session.ts'
import { Button, join } from '../../ui/button.tsx'
import { withSigns } from '../../ui/hidden-characters.ts'
import { Icon } from '../../ui/icon.tsx'
import { Chip } from '../../ui/mark.tsx'
import { answerCutAt } from '../../ui/message-body.tsx'
import layout from '../../ui/styles/layout.module.css'
import { durationText } from '../../ui/time.tsx'
import { answerText, isActive, type RunView as View } from '../follow-run.ts'
import { phases } from '../output/output.tsx'
import { RunView } from '../output/run-view.tsx'
import { changeOf, changeText, noFigure, runCost, runTokens } from '../run-figures.ts'
import type { RunSession } from '../session/run-session.ts'
import { watchRuns } from '../session/watch-runs.ts'
import { ArmSettings } from './arm-settings.tsx'
import css from './compare.module.css'
import type { Column, Comparison } from './comparison.ts'

/** The parts of the editor that a comparison uses. */
export interface EditorPart {
  /** Writes settings into the front matter of the text. */
  keep: (overrides: RunOverrides) => void
  /** Why that cannot be done now. */
  blocked: string | null
  /** Shows a text with the words that it has in place of those of another one. */
  WordDiff: ComponentType<{ before: string; after: string }>
}

interface ArmColumnProps {
  column: Column
  comparison: Comparison
  projectId: number
  editor: EditorPart
  /** Its place, from 1. */
  number: number
  /** The first one, with which it is compared. Null for the first one itself. */
  base: Column | null
  showsDifference: boolean
  onRemove: () => void
}

/** One arm: its settings, its answer, and its figures. */
export function ArmColumn(props: ArmColumnProps) {
  const { column, comparison, projectId, editor, number, base, showsDifference, onRemove } = props
  const { arm, session } = column
  const { overrides } = arm
  const view = useSyncExternalStore(watchRuns, () => session.outline)?.view
  const isOn = view !== undefined && isActive(view)
  const run = useEndedRun(column)
  const other = useEndedRun(base)
  return (
    <article className={join(layout['apart'], css['column'])} aria-label={`Arm ${number}`}>
      <header className={join(layout['row'], layout['head'])}>
        <h3 className={layout['title']}>Arm {number}</h3>
        {view && (
          <Chip tone={phases[view.phase].tone}>{view.phase === 'queued' ? 'Running' : phases[view.phase].text}</Chip>
        )}
        <Button look="quiet" square className={layout['aside']} aria-label={`Remove arm ${number}`} onClick={onRemove}>
          <Icon name="close" />
        </Button>
      </header>
      <ArmSettings
        projectId={projectId}
        arm={arm}
        blocked={isOn}
        onChange={(next) => comparison.change(column.id, next)}
      />
      <Answer session={session} base={showsDifference ? (base?.session ?? null) : null} WordDiff={editor.WordDiff} />
      <ArmFigures run={run} base={other} />
      <div className={layout['row']}>
        {run && (
          <Link to="/runs/$run" params={{ run: run.uuid }}>
            Open run
          </Link>
        )}
        {overrides && (
          <Button blocked={editor.blocked} onClick={() => editor.keep(overrides)}>
            Keep these settings
          </Button>
        )}
      </div>
    </article>
  )
}

interface AnswerProps extends Pick<EditorPart, 'WordDiff'> {
  session: RunSession
  base: RunSession | null
}

/** The answer of an arm, or the words in which it differs. */
function Answer({ session, base, WordDiff }: AnswerProps) {
  const rounds = useSyncExternalStore(watchRuns, () => session.rounds)
  const before = useSyncExternalStore(watchRuns, () => base?.rounds.at(-1)?.view)
  const isReading = useSyncExternalStore(watchRuns, () => session.isReading)
  const view = rounds.at(-1)?.view
  if (!view) return <p className={layout['faint']}>{isReading ? 'Loading' : 'Not run yet.'}</p>
  if (view.phase === 'queued')
    return <p className={layout['faint']}>Two other runs are shown as they arrive. This answer appears at its end.</p>
  const texts = before && isOver(before) && isOver(view) && !view.trouble ? [before, view].map(answerText) : []
  const [from, to] = texts
  if (from !== undefined && to !== undefined && texts.every(({ length }) => length <= answerCutAt))
    return (
      <Suspense>
        <WordDiff before={from} after={to} />
      </Suspense>
    )
  return (
    <div className={layout['far']}>
      {rounds.map((round, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rounds are only added at the end
        <RunView key={at} {...{ session, round }} tab="text" />
      ))}
    </div>
  )
}

/** Tokens, cost and times of an arm, with their difference to the first one. */
function ArmFigures({ run, base }: { run: Run | undefined; base: Run | undefined }) {
  const figures = figuresOf(run)
  const others = figuresOf(base)
  return (
    <dl className={css['figures']}>
      {figures.map(({ label, text, value }, at) => {
        const change = changeText(changeOf(value, others[at]?.value ?? null))
        return (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              {text} {change && <span className={css['change']}>{change}</span>}
            </dd>
          </div>
        )
      })}
      <div>
        <dt>Answered by</dt>
        <dd>{withSigns(run?.model ?? noFigure)}</dd>
      </div>
    </dl>
  )
}

/** The stored record of a run that has ended. */
function useEndedRun(column: Column | null): Run | undefined {
  const view = useSyncExternalStore(watchRuns, () => column?.session.outline)?.view
  const uuid = view && isOver(view) ? column?.arm.run : undefined
  const { data } = useQuery({
    queryKey: ['run', uuid],
    queryFn: ({ signal }) => stet.runs.get(uuid ?? '', { signal }),
    enabled: uuid !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return uuid === undefined ? undefined : data
}

function isOver(view: View): boolean {
  return !isActive(view)
}

interface Figure {
  label: string
  text: string
  value: number | null
}

/** A background run waits for its turn before it starts, which says nothing about the model. */
function figuresOf(run: Run | undefined): Figure[] {
  const { tokenUsage, durationMs = null, firstTokenMs = null, queuedMs = null, cost = null } = run ?? {}
  const since = (ms: number | null) => (ms === null ? null : Math.max(0, ms - (queuedMs ?? 0)))
  const time = (ms: number | null) => (ms === null ? noFigure : durationText(ms))
  const [whole, first] = [since(durationMs), since(firstTokenMs)]
  return [
    {
      label: 'Tokens',
      text: run ? runTokens(run) : noFigure,
      value: tokenUsage ? tokenUsage.inputTokens + tokenUsage.outputTokens : null,
    },
    { label: 'Cost', text: run ? runCost(run) : noFigure, value: cost },
    { label: 'Time', text: time(whole), value: whole },
    { label: 'First token', text: time(first), value: first },
  ]
}
