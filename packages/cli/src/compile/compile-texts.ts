import type { PromptScan } from '@stet/template'
import type { LocalPrompt } from '../sync/scan.ts'

/** The engine is most of the program: only commands that compile load it. */
export async function loadEngine(): Promise<Pick<typeof import('@stet/template'), 'scan' | 'resolveReferencePath'>> {
  // Named imports let the bundler drop the rest.
  const { scan, resolveReferencePath } = await import('@stet/template')
  return { scan, resolveReferencePath }
}

/**
 * Compiles prompts by the rules of the server. References are looked up among `texts` first, then among `others`.
 *
 * @returns what each of `texts` declares, including its errors with positions
 */
export async function compileTexts(
  texts: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, string> = new Map(),
): Promise<Map<string, PromptScan>> {
  const { scan } = await loadEngine()
  const documents = Object.fromEntries([...others, ...texts])
  const scans = new Map<string, PromptScan>()
  for (const [path, content] of texts) scans.set(path, await scan({ path, content, documents }))
  return scans
}

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
