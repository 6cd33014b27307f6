/**
 * The result of a tool call that a run waits for.
 *
 * @example { toolCallId: 'call_9f', result: { sky: 'blue' } }
 */
export interface ToolResultBody {
  toolCallId: string
  /** Any JSON value. The model gets it with its type. Default: `null`. */
  result?: unknown
  /** The tool failed, and `result` explains why. */
  isError?: boolean
}

/** The response to a posted tool result. */
export interface ToolResultTaken {
  success: true
}
