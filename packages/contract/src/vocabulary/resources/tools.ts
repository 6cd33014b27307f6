/**
 * The result of a tool call that a run waits for.
 * @example { toolCallId: 'call_9f', result: { sky: 'blue' } }
 */
export interface ToolResultBody {
  toolCallId: string
  /** Any JSON value. The model receives it with its type. Default: `null`. */
  result?: unknown
  /** Set if the tool failed. `result` then explains why. */
  isError?: boolean
}

export interface ToolResultTaken {
  success: true
}
