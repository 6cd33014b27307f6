import { useRef, useState } from 'react'
import { useRowKeys } from '../../../../app/shortcuts.ts'
import { join } from '../../../../ui/button.tsx'
import { selectClass } from '../../../../ui/field.tsx'
import { withSigns } from '../../../../ui/hidden-characters.ts'
import { JsonTree } from '../../../../ui/json-tree.tsx'
import { Notice, Skeleton } from '../../../../ui/states.tsx'
import layout from '../../../../ui/styles/layout.module.css'
import { countText, durationText } from '../../../../ui/time.tsx'
import { useWindowed } from '../../../../ui/windowed.ts'
import css from '../inspector.module.css'
import type { Followed } from './follow-events.ts'

interface EventsProps {
  followed: Followed
  /** Why there are no events to show. Null if there are. */
  missing: string | null
  /** The run is active, so the times of arrival mean something. */
  isLive: boolean
  /** The id of the open event. */
  at: number | undefined
  onOpen: (at: number | undefined) => void
}

/** The events of the run as the API sends them. */
export function Events({ followed, missing, isLive, at, onOpen }: EventsProps) {
  const { events, isCut, error, isOver } = followed
  const [type, setType] = useState('')
  const box = useRef<HTMLElement>(null)
  useRowKeys(box, 'Run')
  const shown = type ? events.filter(({ event }) => event.type === type) : events
  const { list, from, to, before, after } = useWindowed<HTMLOListElement>(shown.length)
  const open = events.find(({ event }) => event.id === String(at))
  if (missing !== null) return <Notice>{missing}</Notice>
  if (events.length === 0 && !isOver) return error === null ? <Skeleton lines={6} /> : null
  if (events.length === 0) return <p className={layout['small']}>No events.</p>
  const types = [...new Set(events.map(({ event }) => event.type))]
  return (
    <section ref={box} className={layout['stack']} aria-label="Events" tabIndex={-1} data-keeps-focus="">
      <div className={join(layout['row'], css['partHead'])}>
        <select
          className={selectClass}
          aria-label="Type of event"
          value={type}
          onChange={({ target }) => setType(target.value)}
        >
          <option value="">All types</option>
          {types.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <span className={layout['small']}>
          {countText(shown.length)} {isCut && 'of the first'} events
        </span>
      </div>
      {open && <JsonTree key={open.event.id} value={open.event.data} label={`Event ${open.event.id}`} />}
      <ol ref={list} className={css['list']}>
        {before > 0 && <li aria-hidden="true" style={{ height: before }} />}
        {shown.slice(from, to).map(({ event, at: arrivedAt }) => (
          <li key={event.id} data-line>
            <button
              type="button"
              className={css['event']}
              aria-pressed={event.id === String(at)}
              onClick={() => onOpen(event.id === String(at) ? undefined : Number(event.id))}
              data-row
            >
              <span className={layout['small']}>{event.id}</span>
              <span>{event.type}</span>
              <span className={layout['quiet']}>{withSigns(lineOf(event.data))}</span>
              {isLive && <span className={layout['small']}>{durationText(arrivedAt)}</span>}
            </button>
          </li>
        ))}
        {after > 0 && <li aria-hidden="true" style={{ height: after }} />}
      </ol>
    </section>
  )
}

/** The fields that every event of a run has. */
const repeated = new Set(['type', 'messages', 'uuid', 'timestamp', 'providerLogUuid', 'source'])

/** The fields that are new in the event. Most events repeat all messages, which would be slow to write out. */
function lineOf(data: object): string {
  return Object.entries(data)
    .filter(([name]) => !repeated.has(name))
    .slice(0, 6)
    .map(([name, value]) => `${name}: ${typeof value === 'object' ? '…' : String(value).slice(0, 120)}`)
    .join(', ')
}
