/** Remembers the active run of each prompt in this tab, so that the page can join it again after a reload. */
import { base } from '../../app/session.ts'
import { mayKeep, unsavedPrefix } from '../../app/unsaved.ts'

export interface KeptRun {
  conversationUuid: string
  /** The message that the run answers. Null for the prompt's own run. */
  said: string | null
  /** What the earlier runs of the conversation answer, oldest first. */
  earlier: readonly (string | null)[]
  /** How many messages precede the first answer of the conversation. */
  messagesBefore: number | null
  /** Client tools whose results are entered in the pane. */
  tools: readonly string[]
  /** In milliseconds since 1970, because `performance.now()` starts again with the page. */
  startedAt: number
  firstTokenMs: number | null
  /** Results of client tools that are being written, by the id of the tool call. */
  results: Readonly<Record<string, string>>
}

const prefix = `${unsavedPrefix}run#${base.pathname}#`

export function readRun(key: string): KeptRun | null {
  try {
    return JSON.parse(sessionStorage.getItem(prefix + key) ?? 'null')
  } catch {
    return null
  }
}

/** Without room in the browser, a reload does not join the run. */
export function keepRun(key: string, run: KeptRun): void {
  if (!mayKeep()) return
  try {
    sessionStorage.setItem(prefix + key, JSON.stringify(run))
  } catch {
    forgetRun(key)
  }
}

export function forgetRun(key: string): void {
  try {
    sessionStorage.removeItem(prefix + key)
  } catch {
    // A browser without storage remembers no run.
  }
}
