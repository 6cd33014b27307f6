import type { StoredConversation, StoredRun, StoredRunResult } from '../runs/ports.ts'

export type StoredSummary = Omit<StoredConversation, 'messages' | 'config' | 'epoch' | 'lastEventId' | 'latestRun'> & {
  latestRun: (Pick<StoredRun, 'endedAt'> & { result: Omit<StoredRunResult, 'response' | 'costUnknown'> | null }) | null
}
