import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Prompt, PromptIssue } from '@stet/sdk'
import type { Context } from '../context.ts'
import { isOn } from '../io.ts'
import { promptEnding, promptsDirOf } from '../sync/prompt-path.ts'
import type { Problem } from './compile-texts.ts'

type Annotation = Omit<Problem, 'frame'>

/** An issue of a prompt, with its position in the file. */
export type Finding = Omit<Annotation, 'path' | 'file'>

/** Prints annotations in GitHub Actions only. GitHub shows each one at its line. */
export function annotate(findings: readonly Annotation[], { io }: Pick<Context, 'io'>): void {
  if (!isOn(io.env['GITHUB_ACTIONS'])) return
  // GitHub resolves paths from the checkout's root.
  const root = io.env['GITHUB_WORKSPACE'] || io.cwd
  for (const finding of findings) {
    // GitHub reads both streams. Standard output contains the command's data.
    if (finding.file !== null) io.err(annotationOf(finding, relative(root, finding.file).replaceAll('\\', '/')))
  }
}

/** The server's findings in a prompt: compile errors first, then settings that a run would refuse, then warnings. */
export function findingsOf({ errors, issues }: Partial<Pick<Prompt, 'errors' | 'issues'>>): PromptIssue[] {
  // A server of an earlier release sends no issues.
  return [...(errors ?? []).map((error) => ({ ...error, severity: 'error' as const })), ...(issues ?? [])]
}

export async function annotatePrompts(
  prompts: readonly { path: string; found: readonly Finding[] }[],
  ctx: Context,
): Promise<void> {
  const folder = promptsDirOf(await ctx.settings())
  const fileOf = (path: string): string | null => {
    const file = join(folder, path + promptEnding)
    return existsSync(file) ? file : null
  }
  const findings = prompts.flatMap(({ path, found }) =>
    found.map((issue): Annotation => ({ ...issue, path, file: fileOf(path) })),
  )
  annotate(findings, ctx)
}

function annotationOf({ severity, line, column, code, message }: Annotation, file: string): string {
  const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
  return `::${severity} file=${property(file)},line=${line},col=${column},title=${property(code)}::${data(message)}\n`
}
