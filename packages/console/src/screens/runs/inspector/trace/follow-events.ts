/** Reads the events of a conversation's latest run for the inspector, as long as the page is visible. */
import type { Message, Run, StreamEvent } from '@stet/sdk'
import { useEffect, useState } from 'react'
import { noticeSignedOut, stet } from '../../../../app/session.ts'
import { followEvent, type RunView, startedRun } from '../../../../runs/follow-run.ts'
import { leaveQueue, releaseStream, takeStream } from '../../../../runs/session/streams.ts'
import type { Arrived } from './live-spans.ts'

export interface Followed {
  view: RunView
  /** What the model was given last. Null before its call. */
  given: readonly Message[] | null
  events: readonly Arrived[]
  /** There were more events than are kept. */
  isCut: boolean
  /** The events could not be read, or their stream was lost. */
  error: unknown
  isOver: boolean
}

/** More would take much memory, and is more than anyone reads. */
const mostEvents = 20_000
/** Hidden tabs get no animation frames, and events may arrive many times a second. */
const flushMs = 100

/** @param isWanted false reads nothing, and keeps what was read */
export function useFollowed(run: Pick<Run, 'uuid' | 'conversationUuid' | 'createdAt'>, isWanted: boolean): Followed {
  const { uuid, conversationUuid, createdAt } = run
  const [followed, setFollowed] = useState<{ uuid: string } & Followed>(() => ({ uuid, ...nothing(createdAt) }))
  useEffect(() => {
    if (!isWanted) return
    setFollowed({ uuid, ...nothing(createdAt) })
    return followWhileVisible(conversationUuid, createdAt, (change) => setFollowed((now) => ({ ...change(now), uuid })))
  }, [uuid, conversationUuid, createdAt, isWanted])
  return followed.uuid === uuid ? followed : nothing(createdAt)
}

function nothing(createdAt: string): Followed {
  // The clocks of the server and of this computer may differ.
  const started = Math.min(Date.parse(createdAt) - performance.timeOrigin, performance.now())
  const view = { ...startedRun(started), phase: 'waiting' as const }
  return { view, given: null, events: [], isCut: false, error: null, isOver: false }
}

type Change = (now: Followed) => Followed

/** A hidden page leaves the run, and joins it again after the last event that it has. */
function followWhileVisible(conversationUuid: string, createdAt: string, change: (change: Change) => void): () => void {
  const owner = {}
  let leave: (() => void) | undefined
  let lastEventId: string | undefined
  let isOver = false
  const join = async () => {
    let isLeft = false
    leave = () => {
      isLeft = true
      leaveQueue(owner)
    }
    if (!(await takeStream(owner))) return
    try {
      if (isLeft) return
      const options = { resume: { maxAttempts: 6 }, ...(lastEventId !== undefined && { lastEventId }) }
      const stream = stet.runs.attachStream(conversationUuid, options)
      leave = () => {
        isLeft = true
        stream.detach()
      }
      const batch = batched(createdAt, change)
      stream.on('event', (event) => {
        lastEventId = event.id
        batch.add(event)
      })
      // The end of a run that has failed is an event like any other.
      const error: unknown = await stream.finalResult().then(
        () => null,
        (failure) => failure,
      )
      batch.flush()
      if (isLeft) return
      isOver = true
      noticeSignedOut(error)
      change((now) => ({ ...now, isOver: true, error: now.view.result ? null : error }))
    } finally {
      releaseStream()
    }
  }
  const onVisibility = () => {
    leave?.()
    leave = undefined
    if (document.visibilityState === 'visible' && !isOver) void join()
  }
  onVisibility()
  document.addEventListener('visibilitychange', onVisibility)
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    leave?.()
  }
}

/** Collects events for a moment, because the model may send many words in one. */
function batched(createdAt: string, change: (change: Change) => void) {
  let arrived: [StreamEvent, number][] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const start = Date.parse(createdAt) - performance.timeOrigin
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const batch = arrived
    arrived = []
    if (batch.length > 0) change((now) => withEvents(now, batch, start))
  }
  return {
    flush,
    add(event: StreamEvent) {
      arrived.push([event, performance.now()])
      timer ??= setTimeout(flush, flushMs)
    },
  }
}

function withEvents(now: Followed, batch: readonly [StreamEvent, number][], start: number): Followed {
  const given = batch.findLast(([{ data }]) => data.type === 'provider-started')?.[0].data
  const room = mostEvents - now.events.length
  const events = batch.slice(0, room).map(([event, at]) => ({ event, at: Math.max(0, Math.round(at - start)) }))
  return {
    ...now,
    view: batch.reduce((view, [event, at]) => followEvent(view, event, at), now.view),
    given: given?.type === 'provider-started' ? given.messages : now.given,
    events: [...now.events, ...events],
    isCut: now.isCut || batch.length > room,
  }
}
