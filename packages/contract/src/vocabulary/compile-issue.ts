/**
 * One reason why a prompt does not compile. Lines and columns start at 1.
 *
 * @example { code: 'unexpected-eof', message: 'Unexpected end of file', line: 3, column: 1, frame: '3: {{ name\n   ^' }
 */
export interface CompileIssue {
  code: string
  message: string
  line: number
  column: number
  /** The lines around the error, with a marker below it. */
  frame: string
}

/** An issue and the prompt that contains it, which may be a referenced one. The details of `chain_compile_error`. */
export interface LocatedIssue extends CompileIssue {
  path: string
  endLine?: number
  endColumn?: number
}
