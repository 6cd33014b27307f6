/**
 * The result of a tool call that a run waits for.
 * @example { toolCallId: 'call_9f', result: { sky: 'blue' } }
 */
export interface ToolResultBody {
  toolCallId: string
  /** Any JSON value, which the model receives unchanged. Default: `null`. */
  result?: unknown
  /** True if the tool failed. `result` then explains why. Default: false. */
  isError?: boolean
}

export interface ToolResultTaken {
  success: true
}
