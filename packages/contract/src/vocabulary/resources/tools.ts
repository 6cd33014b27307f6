/**
 * The result of a tool call that a run waits for.
 *
 * @example { toolCallId: 'call_9f', result: { sky: 'blue' } }
 */
export interface ToolResultBody {
  toolCallId: string
  /** Any JSON; the model gets it with its type. Absent: null. */
  result?: unknown
  /** The tool failed; `result` says why. */
  isError?: boolean
}

/** The response to a posted tool result. */
export interface ToolResultTaken {
  success: true
}
