/** Keeps the events of a followed run within bounds: their number, and their characters as JSON. Pure. */
import { replaceEqualDeep } from '@tanstack/react-query'
import type { Arrived } from './live-spans.ts'

export interface KeptEvents {
  events: readonly Arrived[]
  /** In characters of JSON. Messages that an event repeats count once. */
  size: number
  /** There were more events than are kept. */
  isCut: boolean
}

export const noEvents: KeptEvents = { events: [], size: 0, isCut: false }

/** More is more than anyone reads. */
const mostEvents = 20_000
const mostSize = 32_000_000

export function withKept(kept: KeptEvents, fresh: readonly Arrived[]): KeptEvents {
  const added: Arrived[] = []
  let { size, isCut } = kept
  let before = kept.events.findLast(hasMessages)?.event
  for (const { event, at } of fresh) {
    isCut ||= kept.events.length + added.length >= mostEvents || size >= mostSize
    if (isCut) break
    // Most events repeat all messages of the conversation, which are kept once.
    const shared = replaceEqualDeep(before, event)
    const repeated = new Set<unknown>(before?.event === 'latitude-event' ? before.data.messages : [])
    size += JSON.stringify(shared.data, (_, value) => (repeated.has(value) ? undefined : value)).length
    added.push({ event: shared, at })
    if (hasMessages({ event: shared })) before = shared
  }
  return { events: [...kept.events, ...added], size, isCut }
}

function hasMessages({ event }: Pick<Arrived, 'event'>): boolean {
  return event.event === 'latitude-event'
}
