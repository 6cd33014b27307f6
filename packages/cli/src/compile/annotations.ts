import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Prompt, PromptIssue } from '@stet/sdk'
import type { Context } from '../context.ts'
import { promptEnding, promptsDirOf } from '../sync/prompt-path.ts'
import { githubCommand, githubPath, isInGitHubActions } from '../terminal/github.ts'
import type { Problem } from './compile-texts.ts'

type Annotation = Omit<Problem, 'frame'>

/** An issue of a prompt, with its position in the file. */
export type Finding = Omit<Annotation, 'path' | 'file'>

/** Prints annotations in GitHub Actions only. GitHub shows each one at its line. */
export function annotate(findings: readonly Annotation[], { io }: Pick<Context, 'io'>): void {
  if (!isInGitHubActions(io)) return
  // GitHub reads both streams. Standard output contains the command's data.
  for (const { severity, file, line, column: col, code: title, message } of findings)
    if (file !== null)
      io.err(githubCommand(severity, { file: githubPath(file, io), line, col, title }, message), 'command')
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
  const fileOf = await promptFiles(ctx)
  const findings = prompts.flatMap(({ path, found }) =>
    found.map((issue): Annotation => ({ ...issue, path, file: fileOf(path) })),
  )
  annotate(findings, ctx)
}

/** Finds the file of a prompt. Null if the prompt exists only on the server. */
export async function promptFiles(ctx: Pick<Context, 'settings'>): Promise<(path: string) => string | null> {
  const folder = promptsDirOf(await ctx.settings())
  return (path) => {
    const file = join(folder, path + promptEnding)
    return existsSync(file) ? file : null
  }
}
