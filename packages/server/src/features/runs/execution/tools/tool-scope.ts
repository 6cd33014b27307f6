/** Where the tools of a run come from, and which of them its caller answers while it waits. */

export interface ToolScope {
  workspaceId: number
  projectId: number
  versionUuid: string
  conversationUuid: string
  /** Null in the run of an agent: nobody sees its calls, so no caller can answer them. */
  runUuid: string | null
  /** Client tools whose calls wait for a result. */
  awaited: readonly string[]
  /** From the document that was run down to this one. */
  lineage: readonly string[]
}

/** Nobody can post a result before a plain JSON answer: there the calls end the run. */
export function awaitedTools(mode: 'json' | 'stream', names: readonly string[]): readonly string[] {
  return mode === 'json' ? [] : names
}
