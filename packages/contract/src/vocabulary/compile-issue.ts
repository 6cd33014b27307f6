/**
 * One reason why a prompt does not compile. Lines and columns start at 1.
 * @example { code: 'unexpected-eof', message: 'Unexpected end of file', line: 3, column: 1, frame: '3: {{ name\n   ^' }
 */
export interface CompileIssue {
  code: string
  message: string
  line: number
  column: number
  /** The position after the error. Absent if only its start is known. */
  endLine?: number
  endColumn?: number
  /** The line of the error and the line before it, with a marker below the error. */
  frame: string
  /** The prompt with the error, if it is a referenced one. Absent for an error in the prompt itself. */
  path?: string
}

/**
 * What a check says of a prompt that compiles. A run refuses a prompt with an error. A warning refuses nothing.
 * @example { severity: 'error', code: 'invalid-setting', message: '`temperature` must be a number', line: 2, column: 1, frame: '2 | temperature: hot\n  | ^' }
 */
export interface PromptIssue extends Omit<CompileIssue, 'path'> {
  severity: 'error' | 'warning'
}

/** A compile issue with its prompt. `path` may name a referenced prompt. */
export interface LocatedIssue extends CompileIssue {
  path: string
}
