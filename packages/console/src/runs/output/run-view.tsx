import { Fragment, memo, type ReactNode, useState } from 'react'
import { CopyButton } from '../../ui/copy.tsx'
import { answerCutAt, DataUrl, GrowingText, MessageBody, Reasoning } from '../../ui/message-body.tsx'
import { Skeleton } from '../../ui/states.tsx'
import layout from '../../ui/styles/layout.module.css'
import { Figure, Figures } from '../../ui/table.tsx'
import { costText, countText, durationText, useNow } from '../../ui/time.tsx'
import { isActive, type OutputPart, type StepView, type RunView as View } from '../follow-run.ts'
import { RunFailure } from '../run-failure.tsx'
import type { Round } from '../session/rounds.ts'
import type { RunSession } from '../session/run-session.ts'
import css from './output.module.css'
import { ToolCall } from './tool-call.tsx'

export type OutputTab = 'text' | 'json'

interface RoundProps {
  session: RunSession
  round: Round
  tab: OutputTab
}

/**
 * One run of the conversation, with the message that it answers. Earlier rounds stay as they are while words arrive.
 */
export const RunView = memo(function RunView({ session, round, tab }: RoundProps) {
  const { said, view } = round
  const call = (part: OutputPart) => part.kind === 'tool' && <ToolCall key={part.key} call={part} session={session} />
  return (
    <article className={layout['apart']} data-phase={view.phase}>
      {said !== null && (
        <div className={css['said']}>
          <p className={layout['small']}>You</p>
          <MessageBody text={said} />
        </div>
      )}
      {tab === 'text' ? <Steps view={view} call={call} /> : <JsonOf view={view} />}
      {view.trouble && <RunFailure trouble={view.trouble} onRejoin={() => void session.rejoin()} />}
      {view.phase === 'stopped' && <p className={css['stopped']}>stopped</p>}
      {view.phase === 'queued' && (
        <p className={layout['small']}>
          Two other runs are open in this tab. When one of them ends, this run appears again with all its output. The
          server stops a run that no page shows for too long.
        </p>
      )}
      {view.phase === 'reconnecting' && (
        <p className={layout['small']}>The connection was lost. Reconnecting, attempt {countText(view.attempt)}.</p>
      )}
    </article>
  )
})

function Steps({ view, call }: { view: View; call: (part: OutputPart) => ReactNode }) {
  const last = view.steps.at(-1)?.parts.at(-1)
  if (view.phase === 'saving' || view.phase === 'waiting') return <Waiting view={view} />
  return view.steps.map((step) => (
    <Fragment key={step.number}>
      {view.steps.length > 1 && <StepHead step={step} count={view.steps.length} />}
      {step.parts.map((part) => (
        <Part key={part.key} part={part} isGrowing={isActive(view) && part === last}>
          {call(part)}
        </Part>
      ))}
    </Fragment>
  ))
}

interface PartProps {
  part: OutputPart
  /** More of the text may follow. */
  isGrowing: boolean
  children: ReactNode
}

function Part({ part, isGrowing, children }: PartProps) {
  // A text that was seen growing stays in its element: replacing it would move the scroll position and the selection.
  const [hasGrown] = useState(isGrowing)
  if (part.kind === 'tool') return children
  if (part.kind === 'file') return <DataUrl url={part.url} />
  const isShort = part.text.length <= answerCutAt
  const body =
    hasGrown && (isGrowing || (isShort && !part.text.includes(';base64,'))) ? (
      <>
        <GrowingText text={part.text.slice(0, answerCutAt)} />
        {!isShort && <p className={layout['small']}>Still receiving. The full text appears when the run ends.</p>}
      </>
    ) : (
      <MessageBody text={part.text} limit={answerCutAt} />
    )
  if (part.kind === 'text')
    return (
      <div className={css['answer']} data-answer>
        {body}
      </div>
    )
  return <Reasoning>{body}</Reasoning>
}

function StepHead({ step, count }: { step: StepView; count: number }) {
  const facts = [step.model, step.usage && `${countText(step.usage.outputTokens)} tokens out`]
  return (
    <p className={css['step']}>
      Step {step.number} of {count} <span className={layout['small']}>{facts.filter(Boolean).join(' · ')}</span>
    </p>
  )
}

/** Nothing for the first second: most models answer within it. */
function Waiting({ view }: { view: View }) {
  const elapsed = useElapsed(view.startedAt)
  return (
    <div className={css['waiting']}>
      <p className={layout['small']}>
        {view.phase === 'saving' ? 'Saving the prompt' : 'Waiting for the first token'}
        {elapsed >= 1000 && <span className={css['clock']}> {durationText(elapsed)}</span>}
      </p>
      <Skeleton lines={3} />
    </div>
  )
}

/** @param since in milliseconds of `performance.now()`, which is not changed when the machine's clock is set */
function useElapsed(since: number): number {
  return Math.max(0, useNow(100, steadyClock) - since)
}

const steadyClock = () => performance.now()

function JsonOf({ view }: { view: View }) {
  const value = view.object ? view.object.value : view.result
  if (value === null && !view.object)
    return (
      <p className={layout['small']}>
        {isActive(view) ? 'The JSON appears when the run ends.' : 'The run returned no JSON.'}
      </p>
    )
  const text = JSON.stringify(value, null, 2)
  return (
    <div className={layout['stack']}>
      <div className={css['jsonHead']}>
        <p className={layout['small']}>{view.object ? 'The answer' : 'The result as the API returns it'}</p>
        <CopyButton text={text} label="Copy JSON" />
      </div>
      <MessageBody className={css['json']} text={text} limit={answerCutAt} />
    </div>
  )
}

interface FactsProps {
  view: View
  /** Whether the models of the run have prices. */
  isPriced: boolean
}

/** Duration, tokens and cost of the run. */
export function RunFacts({ view, isPriced }: FactsProps) {
  const { usage, cost, firstTokenMs, durationMs } = view
  const { model } = view.steps.at(-1) ?? {}
  const isSpent = usage !== null && usage.totalTokens > 0
  const price = cost === null || !isSpent ? '–' : costText(isPriced || cost > 0 ? cost : null)
  return (
    <Figures>
      <Figure label="Answered by">{model ?? '–'}</Figure>
      <Figure label="Time">{durationMs === null ? <Clock since={view.startedAt} /> : durationText(durationMs)}</Figure>
      <Figure label="First token">{firstTokenMs === null ? '–' : durationText(firstTokenMs)}</Figure>
      <Figure label="Tokens">
        {isSpent ? `${countText(usage.inputTokens)} in · ${countText(usage.outputTokens)} out` : '–'}
      </Figure>
      <Figure label="Cost">{price}</Figure>
    </Figures>
  )
}

function Clock({ since }: { since: number }) {
  return durationText(useElapsed(since))
}
