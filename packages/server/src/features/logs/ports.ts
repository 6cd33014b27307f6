/** What logs need from storage. */
import type { LoggedConversation, NewLogEntry } from './log-entry.ts'

export interface LogStore {
  /** Both rows or none; resolves with the id of the entry, after the commit. */
  create(conversation: LoggedConversation, entry: NewLogEntry): Promise<number>
}
