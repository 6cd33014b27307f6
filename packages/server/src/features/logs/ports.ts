/** What external logs need from storage. */
import type { LoggedConversation, NewLogEntry } from './log-entry.ts'

export interface LogStore {
  /** Writes both rows or none. Resolves with the id after the commit. */
  create(conversation: LoggedConversation, entry: NewLogEntry): Promise<number>
}
