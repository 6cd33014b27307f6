import { queryOptions } from '@tanstack/react-query'
import { stet } from '../../../app/session.ts'
import { isActiveRun } from '../../../runs/run-figures.ts'

/** How often an active run is read, also if its events cannot be followed. */
const activeInterval = 3000

/** @param uuid of a run, or of a conversation for its latest run */
export function runQuery(uuid: string) {
  return queryOptions({
    queryKey: ['run', uuid],
    queryFn: ({ signal }) => stet.runs.get(uuid, { signal }),
    refetchInterval: ({ state: { data } }) => (data && isActiveRun(data) ? activeInterval : false),
  })
}

/** The runs of a conversation, oldest first. */
export function runsOfQuery(conversationUuid: string) {
  return queryOptions({
    queryKey: ['run', 'conversation', conversationUuid, 'runs'],
    queryFn: ({ signal }) => stet.runs.ofConversation(conversationUuid, { signal }),
  })
}

/** The conversation with its messages. */
export function conversationQuery(conversationUuid: string) {
  return queryOptions({
    queryKey: ['run', 'conversation', conversationUuid],
    queryFn: ({ signal }) => stet.conversations.get(conversationUuid, { signal }),
  })
}
