import type { PromptScan } from '@stet/template'
import type { LocalPrompt } from '../sync/scan.ts'

/** The engine is most of the program's size, so only commands that compile load it. */
export async function loadEngine(): Promise<Pick<typeof import('@stet/template'), 'scan' | 'resolveReferencePath'>> {
  // Destructuring lets the bundler drop the unused exports.
  const { scan, resolveReferencePath } = await import('@stet/template')
  return { scan, resolveReferencePath }
}

/**
 * Compiles prompts by the server's rules. References resolve to `texts` first, then to `others`.
 * @returns a scan for each of `texts`, including its errors with positions
 */
export async function compileTexts(
  texts: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, string> = new Map(),
): Promise<Map<string, PromptScan>> {
  const { scan } = await loadEngine()
  const { schemaIssues } = await import('@stet/template/answer-schema')
  const documents = Object.fromEntries([...others, ...texts])
  const scans = new Map<string, PromptScan>()
  for (const [path, content] of texts) {
    const found = await scan({ path, content, documents })
    scans.set(path, { ...found, errors: [...found.errors, ...schemaIssues({ path, content }, found.config)] })
  }
  return scans
}

/** Returns whether a prompt compiles. References resolve to `others`. */
export async function compiles(path: string, text: string, others: ReadonlyMap<string, string>): Promise<boolean> {
  const scans = await compileTexts(new Map([[path, text]]), others)
  return scans.get(path)?.errors.length === 0
}

/** Lines and columns start at 1 and refer to the text of `path`. */
export interface Problem {
  path: string
  /** The absolute path. Null if the prompt exists only on the server. */
  file: string | null
  line: number
  column: number
  code: string
  message: string
  /** The source line and the line before it, with a caret under the column. */
  frame: string
  severity: 'error' | 'warning'
}

type Issue = PromptScan['errors'][number]

/** Sorts the problems by path and line. Returns each problem once, even if several prompts reference its prompt. */
export function problemsOf(scans: ReadonlyMap<string, PromptScan>, files: ReadonlyMap<string, LocalPrompt>): Problem[] {
  const found = new Map<string, Problem>()
  const add = (issue: Issue, severity: Problem['severity']): void => {
    const { path, line, column, code, message, frame } = issue
    const file = files.get(path)?.file ?? null
    found.set(`${path}:${line}:${column}:${code}`, { path, file, line, column, code, message, frame, severity })
  }
  for (const { errors, warnings, issues } of scans.values()) {
    for (const issue of warnings) add(issue, 'warning')
    for (const issue of issues) add(issue, issue.severity)
    for (const issue of errors) add(issue, 'error')
  }
  return [...found.values()].sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
}
