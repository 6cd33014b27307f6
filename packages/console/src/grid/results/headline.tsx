import type { Experiment, Report } from '@stet/contract/vocabulary'
import type { ReactNode } from 'react'
import { Button, join } from '../../ui/button.tsx'
import { selectClass } from '../../ui/field.tsx'
import { Notice } from '../../ui/states.tsx'
import { costText, counted, durationText } from '../../ui/time.tsx'
import css from '../grid.module.css'
import type { View } from './grid-model.ts'

interface HeadlineProps {
  experiment: Experiment
  report: Report | undefined
  view: View
  onView: (change: Partial<View>) => void
}

/** "3 broke, 5 fixed, 42 same", of which those that changed are buttons, and below it how sure that is. */
export function Headline({ experiment, report, view, onView }: HeadlineProps) {
  const { filter, arm, evaluation } = view
  const pair = report?.pairs.find((one) => one.arm === arm)
  const { words } = pair ?? {}
  return (
    <header className={css['stack']}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form */}
      <div className={css['flow']} role="group" aria-label="Rows">
        {pair && (
          <>
            <Count name="broke" tone="fail" {...{ view, onView }}>
              <strong>{pair.broke}</strong> broke{pair.brokeMust > 0 && ` (${pair.brokeMust} must)`}
            </Count>
            <Count name="fixed" tone="pass" {...{ view, onView }}>
              <strong>{pair.fixed}</strong> fixed
            </Count>
            <span className={css['count']}>
              <strong>{pair.same}</strong> same
            </span>
          </>
        )}
        <span className={css['flow']}>
          {filters
            .filter(({ isOfPair }) => pair || !isOfPair)
            .map(({ name, text }) => (
              <Button key={text} look="quiet" aria-pressed={filter === name} onClick={() => onView({ filter: name })}>
                {text}
              </Button>
            ))}
        </span>
      </div>
      {words && (
        <p className={css['quiet']}>{[words.rates && `${words.rates}.`, words.chance, words.power].join(' ')}</p>
      )}
      {report && <Facts {...{ experiment, report, arm }} />}
      {(experiment.arms.length > 2 || experiment.evaluations.length > 1) && (
        <div className={css['flow']}>
          {experiment.arms.length > 2 && (
            <Choice label="Arm that is compared" value={String(arm)} onChange={(to) => onView({ arm: Number(to) })}>
              {experiment.arms.slice(1).map(({ label }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the arms of an experiment never change
                <option key={at} value={at + 1}>
                  {label}
                </option>
              ))}
            </Choice>
          )}
          {experiment.evaluations.length > 1 && (
            <Choice label="Evaluation" value={evaluation ?? ''} onChange={(to) => onView({ evaluation: to || null })}>
              <option value="">All evaluations</option>
              {experiment.evaluations.map(({ uuid, name }) => (
                <option key={uuid} value={uuid}>
                  {name}
                  {leftOutText(report, uuid)}
                </option>
              ))}
            </Choice>
          )}
        </div>
      )}
      <Warnings {...{ experiment, report }} />
    </header>
  )
}

interface ChoiceProps {
  label: string
  value: string
  onChange: (value: string) => void
  children: ReactNode
}

/** A list of choices in a bar. */
export function Choice({ label, value, onChange, children }: ChoiceProps) {
  return (
    <select className={selectClass} aria-label={label} value={value} onChange={({ target }) => onChange(target.value)}>
      {children}
    </select>
  )
}

interface CountProps extends Pick<HeadlineProps, 'view' | 'onView'> {
  /** The rows that it shows. */
  name: View['filter']
  tone: string
  children: ReactNode
}

function Count({ name, tone, view, onView, children }: CountProps) {
  const isOn = view.filter === name
  return (
    <button
      type="button"
      className={join(css['count'], css['tone'])}
      data-tone={tone}
      aria-pressed={isOn}
      onClick={() => onView({ filter: isOn ? undefined : name })}
    >
      {children}
    </button>
  )
}

const filters: readonly { name: View['filter']; text: string; isOfPair?: boolean }[] = [
  { name: 'failed', text: 'Failed' },
  { name: 'differs', text: 'Differs', isOfPair: true },
  { name: 'unscored', text: 'Unscored' },
  { name: undefined, text: 'All' },
]

/** Cost, time, missing scores and labels, after what they mean for the result. */
function Facts({ experiment, report, arm }: { experiment: Experiment; report: Report; arm: number }) {
  const figures = report.arms[arm]
  const unscored = figures?.unscored.reduce((sum, { count }) => sum + count, 0) ?? 0
  const codes = figures?.unscored.map(({ code, count }) => `${count} ${code}`).join(', ')
  const facts = [
    `${costText(experiment.costUsd)} in all`,
    figures?.costRatio != null && arm > 0 && `cost ${ratioText(figures.costRatio)}`,
    figures?.durationRatio != null && arm > 0 && `time ${ratioText(figures.durationRatio)}`,
    figures?.p95Ms != null && `p95 ${durationText(figures.p95Ms)}`,
    unscored > 0 && `${unscored} not scored (${codes})`,
    report.labels.count > 0 && `${counted(report.labels.count, 'label')} by people`,
  ]
  return <p className={css['quiet']}>{facts.filter(Boolean).join(' · ')}</p>
}

function ratioText(ratio: number): string {
  const percent = Math.round((ratio - 1) * 100)
  return percent === 0 ? '±0 %' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`
}

const leftOut = {
  human: 'for people only',
  'not-validated': 'not validated',
  changed: 'changed since',
  'no-expected': 'nothing expected',
}

/** An evaluation that does not count says why. */
function leftOutText(report: Report | undefined, uuid: string): string {
  const reason = report?.evaluations.find((one) => one.uuid === uuid)?.leftOut
  return reason ? ` (${leftOut[reason]})` : ''
}

const stopped = {
  user: 'It was stopped.',
  budget: 'It was stopped because it reached its budget.',
  key: 'It was stopped because its API key was revoked.',
  provider: 'It was stopped after ten failures of the provider in a row.',
}

function Warnings({ experiment, report }: { experiment: Experiment; report: Report | undefined }) {
  const { state, reason, isStale } = experiment
  const isScored = report?.evaluations.some(({ counts }) => counts)
  const unproven = report?.evaluations.flatMap(({ leftOut: why, name }) => (why === 'not-validated' ? name : [])) ?? []
  const hasEnded = report?.arms.some(({ ended }) => ended > 0)
  return (
    <>
      {reason && <Notice tone={state === 'failed' ? 'red' : 'amber'}>{stopped[reason]}</Notice>}
      {isStale && (
        <Notice tone="amber">
          An agent, a provider key or a default changed while this ran, so it gives no verdict. Run it again.
        </Notice>
      )}
      {report?.warnings.includes('demo') && (
        <Notice tone="amber">The demo provider answered, so the numbers mean nothing.</Notice>
      )}
      {hasEnded && !isScored && (
        <Notice tone="blue">
          {unproven.length > 0
            ? `People have not confirmed enough verdicts of ${unproven.join(', ')}. `
            : 'No answer is scored. '}
          Add what you expect, or label answers with <kbd>y</kbd> and <kbd>n</kbd>.
        </Notice>
      )}
    </>
  )
}
