import type { PromptScan } from '@stet/template'
import type { LocalPrompt } from '../sync/scan.ts'

/** A finding about a prompt. Lines and columns count from 1, in the text of `path`. */
export interface Problem {
  path: string
  /** The absolute path of the file; null if the prompt exists only on the server. */
  file: string | null
  line: number
  column: number
  code: string
  message: string
  /** The line, with a caret under the column. */
  frame: string
  severity: 'error' | 'warning'
}

type Issue = PromptScan['errors'][number]

/** Findings in files, sorted by path. A prompt that others reference is reported once. */
export function problemsOf(scans: ReadonlyMap<string, PromptScan>, files: ReadonlyMap<string, LocalPrompt>): Problem[] {
  const found = new Map<string, Problem>()
  const add = (issue: Issue, severity: Problem['severity']): void => {
    const { path, line, column, code, message, frame } = issue
    const file = files.get(path)?.file ?? null
    found.set(`${path}:${line}:${column}:${code}`, { path, file, line, column, code, message, frame, severity })
  }
  for (const { errors, warnings } of scans.values()) {
    for (const issue of warnings) add(issue, 'warning')
    for (const issue of errors) add(issue, 'error')
  }
  return [...found.values()].sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
}
