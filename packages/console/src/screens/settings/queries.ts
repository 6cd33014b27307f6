import type { ConsoleSession } from '@stet/contract/vocabulary'
import { queryOptions } from '@tanstack/react-query'
import { listInterval } from '../../app/queries.ts'
import { callConsole, stet } from '../../app/session.ts'

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => stet.apiKeys.list({ signal }),
  refetchInterval: listInterval,
})

/** The provider keys with their settings, for `admin`. Tokens are masked. */
export const providerKeysQuery = queryOptions({
  queryKey: ['provider-keys'],
  queryFn: ({ signal }) => stet.providerKeys.list({ signal }),
})

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => callConsole<ConsoleSession[]>('GET', '/console/sessions'),
  refetchInterval: listInterval,
})
