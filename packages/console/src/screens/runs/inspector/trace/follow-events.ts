/** Reads the events of a run for the inspector, as long as the page is visible. */
import { type Message, type Run, RunError, type StreamEvent } from '@stet/sdk'
import { useCallback, useEffect, useState } from 'react'
import { noticeSignedOut, stet } from '../../../../app/session.ts'
import { followEvent, type RunView, type SdkEvent, startedRun } from '../../../../runs/follow-run.ts'
import { EventBatch } from '../../../../runs/session/event-batch.ts'
import { leaveQueue, releaseStream, takeStream } from '../../../../runs/session/streams.ts'
import { type KeptEvents, noEvents, withKept } from './kept-events.ts'

interface State extends KeptEvents {
  view: RunView
  /** The messages that the model was given last. Null before its call. */
  given: readonly Message[] | null
  /** The events could not be read, or their stream was lost. Null otherwise. */
  error: unknown
  /** All events were read. False after a lost connection: the run may still be active. */
  isOver: boolean
}

export interface Followed extends State {
  /** Reads the events again from the first one. */
  reconnect: () => void
}

type FollowedRun = Pick<Run, 'uuid' | 'conversationUuid' | 'createdAt'>

/**
 * @param run always the same one
 * @param isWanted false reads nothing, and keeps what was read
 */
export function useFollowed({ uuid, conversationUuid, createdAt }: FollowedRun, isWanted: boolean): Followed {
  const [attempt, setAttempt] = useState(0)
  const [followed, setFollowed] = useState(() => nothing(createdAt))
  const reconnect = useCallback(() => setAttempt((now) => now + 1), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt reads again
  useEffect(() => {
    if (!isWanted) return
    setFollowed(nothing(createdAt))
    return followWhileVisible({ uuid, conversationUuid, createdAt }, setFollowed)
  }, [uuid, conversationUuid, createdAt, isWanted, attempt])
  return { ...followed, reconnect }
}

function nothing(createdAt: string): State {
  // The clocks of the server and of this computer may differ.
  const started = Math.min(Date.parse(createdAt) - performance.timeOrigin, performance.now())
  const view = { ...startedRun(started), phase: 'waiting' as const }
  return { view, given: null, ...noEvents, error: null, isOver: false }
}

type Change = (now: State) => State
type Arrival = [event: StreamEvent | SdkEvent, at: number]

/** A hidden page leaves the run, and joins it again after the last event that it has. */
function followWhileVisible(
  { uuid: runUuid, conversationUuid, createdAt }: FollowedRun,
  change: (change: Change) => void,
): () => void {
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
      change((now) => ({ ...now, error: null }))
      const options = { runUuid, resume: { maxAttempts: 6 }, ...(lastEventId !== undefined && { lastEventId }) }
      const stream = stet.runs.attachStream(conversationUuid, options)
      leave = () => {
        isLeft = true
        stream.detach()
      }
      const start = Date.parse(createdAt) - performance.timeOrigin
      const batch = new EventBatch((arrived) => change((now) => withEvents(now, arrived, start)))
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
      noticeSignedOut(error)
      isOver = error === null || error instanceof RunError
      change((now) => ({ ...now, isOver, error: isOver ? null : error }))
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

function withEvents(now: State, arrived: readonly Arrival[], start: number): State {
  const batch = arrived.flatMap(([event, at]) => (event.event === 'sdk' ? [] : [[event, at] as const]))
  const given = batch.findLast(([{ data }]) => data.type === 'provider-started')?.[0].data
  const fresh = batch.map(([event, at]) => ({ event, at: Math.max(0, Math.round(at - start)) }))
  return {
    ...now,
    view: batch.reduce((view, [event, at]) => followEvent(view, event, at), now.view),
    given: given?.type === 'provider-started' ? given.messages : now.given,
    ...withKept(now, fresh),
  }
}
