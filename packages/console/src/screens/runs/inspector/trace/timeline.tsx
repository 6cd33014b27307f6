import type { RunDetails, RunSpan } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useMemo, useRef } from 'react'
import { useRowKeys } from '../../../../app/shortcuts.ts'
import { isActiveRun, spanFigures } from '../../../../runs/run-figures.ts'
import { join } from '../../../../ui/button.tsx'
import { withSigns } from '../../../../ui/hidden-characters.ts'
import { Chip } from '../../../../ui/mark.tsx'
import layout from '../../../../ui/styles/layout.module.css'
import { durationText } from '../../../../ui/time.tsx'
import { useWindowed } from '../../../../ui/windowed.ts'
import css from '../inspector.module.css'
import { Value } from '../messages/message.tsx'
import { callOf, callsIn, depthOf } from '../messages/tool-calls.ts'
import { conversationQuery } from '../queries.ts'
import type { Followed } from './follow-events.ts'
import { liveSpans } from './live-spans.ts'

interface TimelineProps {
  run: RunDetails
  followed: Followed
  /** The place of the open span. */
  at: number | undefined
  onOpen: (at: number | undefined) => void
}

const kinds: Record<RunSpan['kind'], string> = { step: 'Step', model: 'Model', tool: 'Tool', wait: 'Caller’s tool' }

/** Where the time of the run went: its steps, model calls and tool calls as bars. Only those in view are rendered. */
export function Timeline({ run, followed, at, onOpen }: TimelineProps) {
  const isActive = isActiveRun(run)
  const lastAt = followed.events.at(-1)?.at ?? 0
  const spans = isActive ? liveSpans(followed.events, run.path, lastAt) : run.spans
  const box = useRef<HTMLElement>(null)
  useRowKeys(box, 'Run')
  const { list, from, to, before, after } = useWindowed<HTMLOListElement>(spans.length)
  if (spans.length === 0)
    return (
      <p className={layout['small']}>
        {isActive
          ? 'Nothing has begun yet.'
          : 'The run has no timeline: it ended before its first step, or an earlier release ran it.'}
      </p>
    )
  const whole = run.durationMs ?? spans.reduce((latest, { endMs }) => Math.max(latest, endMs), lastAt)
  return (
    <section ref={box} className={layout['apart']} aria-label="Timeline" tabIndex={-1} data-keeps-focus="">
      {run.queuedMs !== null && run.queuedMs > 0 && (
        <p className={layout['small']}>It waited {durationText(run.queuedMs)} for its start.</p>
      )}
      <ol ref={list} className={css['list']}>
        {before > 0 && <li aria-hidden="true" style={{ height: before }} />}
        {spans.slice(from, to).map((span, index) => {
          const place = from + index
          return (
            <Span
              key={place}
              span={span}
              depth={depthOf(spans, span)}
              whole={whole}
              isOpen={place === at}
              onToggle={() => onOpen(place === at ? undefined : place)}
            />
          )
        })}
        {after > 0 && <li aria-hidden="true" style={{ height: after }} />}
      </ol>
      {run.spansCut && <p className={layout['small']}>The run had more steps and calls than are kept.</p>}
      {isActive && (
        <p className={layout['small']}>Times of arrival. The measured times follow at the end of the run.</p>
      )}
      {at !== undefined && spans[at] && <Details key={at} {...{ run, spans, at, list }} />}
    </section>
  )
}

interface SpanProps {
  span: RunSpan
  depth: number
  /** The duration of the run in milliseconds. */
  whole: number
  isOpen: boolean
  onToggle: () => void
}

function Span({ span, depth, whole, isOpen, onToggle }: SpanProps) {
  const { kind, name, startMs, endMs, firstTokenMs, status } = span
  const share = (ms: number) => `${(100 * Math.max(0, ms)) / Math.max(1, whole)}%`
  return (
    <li className={css['span']} data-kind={kind} data-line>
      <button type="button" className={css['spanHead']} aria-pressed={isOpen} onClick={onToggle} data-row>
        <span className={layout['cut']} style={{ paddingInlineStart: `${Math.min(depth, 8)}rem` }}>
          <span className={layout['small']}>{kinds[kind]}</span> {withSigns(name)}
        </span>
        <span className={css['track']} aria-hidden="true">
          <span
            className={css['bar']}
            data-status={status}
            style={{ insetInlineStart: share(startMs), width: share(endMs - startMs) }}
          />
          {firstTokenMs !== undefined && (
            <span className={css['first']} style={{ insetInlineStart: share(firstTokenMs) }} />
          )}
        </span>
        <span className={css['spanTime']}>
          {status !== 'ok' && (
            <Chip tone={status === 'error' ? 'red' : 'amber'}>{status === 'error' ? 'failed' : 'stopped'}</Chip>
          )}
          {durationText(endMs - startMs)}
        </span>
      </button>
    </li>
  )
}

interface DetailsProps extends Pick<TimelineProps, 'run'> {
  spans: readonly RunSpan[]
  /** The place of the open span. */
  at: number
  list: RefObject<HTMLOListElement | null>
}

/** The figures of the open span, and the arguments and the result of its call. In reach wherever the list is. */
function Details({ run, spans, at, list }: DetailsProps) {
  const { data } = useQuery(conversationQuery(run.conversationUuid))
  const calls = useMemo(() => {
    const [from, to] = run.messageRange ?? []
    return callsIn(data?.conversation.slice(from, to) ?? [])
  }, [data, run.messageRange])
  // They appear over the end of the list, where the row may be.
  useEffect(() => {
    list.current?.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [list])
  const span = spans[at]
  if (!span) return null
  const { kind, name } = span
  const call = callOf(spans, at, calls)
  return (
    <section
      className={join(layout['stack'], css['spanMore'])}
      aria-label={`${kinds[kind]} ${name}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls
      tabIndex={0}
      data-scrolls
    >
      <p className={layout['small']}>{spanFigures(span).join(' · ')}</p>
      {call && (
        <>
          <h3 className={css['role']}>Arguments</h3>
          <Value value={call.args} label={`Arguments of ${name}`} />
          <h3 className={css['role']}>Result</h3>
          {call.result === undefined ? (
            <p className={layout['small']}>No result.</p>
          ) : (
            <Value value={call.result} label={`Result of ${name}`} />
          )}
        </>
      )}
    </section>
  )
}
