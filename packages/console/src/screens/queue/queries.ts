import type { Message } from '@stet/sdk'
import { infiniteQueryOptions, queryOptions, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { stet } from '../../app/session.ts'
import { partsOf } from '../../runs/session/rounds.ts'

/** The conversations without a person's label, newest first. Read once: a label must not move the others. */
export function queueQuery(projectId: number, evaluation: string, tag: string | undefined) {
  return infiniteQueryOptions({
    queryKey: ['queue', projectId, evaluation, tag],
    queryFn: ({ pageParam, signal }) =>
      stet.evaluations.queue(evaluation, {
        ...{ projectId, signal },
        ...(tag && { tag }),
        ...(pageParam && { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

export function runQuery(conversationUuid: string) {
  return queryOptions({
    queryKey: ['run', conversationUuid],
    queryFn: ({ signal }) => stet.runs.get(conversationUuid, { signal }),
    staleTime: 60_000,
  })
}

export function conversationQuery(uuid: string) {
  return queryOptions({
    queryKey: ['run', 'conversation', uuid],
    queryFn: ({ signal }) => stet.conversations.get(uuid, { signal }),
    staleTime: 60_000,
  })
}

/** Loads what the next answer needs while this one is read. */
export function usePreloadedCase(conversationUuid: string | undefined): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!conversationUuid) return
    void client.prefetchQuery(runQuery(conversationUuid))
    void client.prefetchQuery(conversationQuery(conversationUuid))
  }, [client, conversationUuid])
}

/** The most frequent tags of the last 30 days. */
export function tagsQuery(projectId: number) {
  return queryOptions({
    queryKey: ['project', projectId, 'tags'],
    queryFn: ({ signal }) => stet.projects.tags({ projectId, signal }),
    staleTime: 60_000,
  })
}

/** The text of the last message that a model wrote, or of the only one. */
export function answerOf(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'assistant') ?? messages.at(-1)
  const parts = last ? partsOf(last) : []
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
}
