import type { Change, CompileIssue, PromptIssue, PushResult } from '@stet/sdk'
import type { Context } from '../context.ts'
import type { Compared } from '../sync/compare.ts'
import { hashText } from '../sync/hash.ts'
import type { Refusal } from '../sync/scan.ts'
import { countOf } from '../terminal/output.ts'
import { countLines, formatCount } from '../ui/diff.ts'
import { runArguments } from '../ui/parameters.ts'
import type { PublishReport } from './publish.ts'

export interface PushReport {
  version: { uuid: string; status: string; name: string }
  isNewDraft: boolean
  isDry: boolean
  changes: {
    path: string
    /** The earlier path of a moved prompt. */
    from?: string
    status: Change['status']
    hash: string | null
    lines: string
    merged?: true
  }[]
  errors: { path: string; errors: CompileIssue[] }[]
  issues: { path: string; issues: PromptIssue[] }[]
  /** Inputs that a run of the first pushed prompt needs. */
  required: string[]
  refused: Refusal[]
  durationMs: number
  published?: PublishReport
}

export function firstToRun<T extends Pick<Change, 'path' | 'status'>>(changes: readonly T[]): T | undefined {
  return changes.find(({ status }) => status !== 'deleted')
}

export function describeChanges(
  changes: readonly Change[],
  selected: readonly Compared[],
  merged: NonNullable<PushResult['merged']> = [],
): Promise<PushReport['changes']> {
  const described = changes.map(async ({ path, from, status, content: sent }) => {
    const there = merged.find((one) => one.path === path)
    const one = selected.find((candidate) => candidate.path === path)
    const content = there?.content ?? sent ?? (from && one?.remoteText)
    const lines = formatCount(await countLines(one?.remoteText, content))
    const hash = content === undefined ? null : hashText(content)
    return { path, ...(from !== undefined && { from }), status, hash, lines, ...(there && { merged: true as const }) }
  })
  return Promise.all(described)
}

export function sayPushed(report: PushReport, ctx: Context, publishes = false): void {
  const { style, say, program } = ctx
  const { version, changes, isDry } = report
  sayChanges(changes, ctx)
  sayFindings(report, ctx)
  if (changes.length === 0) say(`${style.ok} Nothing to push`)
  else if (isDry) say(`${countOf(changes.length, 'change')} would be pushed`)
  else {
    say(`${style.ok} ${countOf(changes.length, 'change')} pushed in ${(report.durationMs / 1000).toFixed(1)} s`)
    const first = firstToRun(changes)
    if (first && !publishes) say(`  Try it:   ${program} run ${runArguments(first.path, report.required)}`)
    if (version.status === 'draft' && !publishes) say(`  Publish:  ${program} publish`)
  }
}

export function sayChanges(changes: PushReport['changes'], { style, say }: Context): void {
  const letters = { added: 'A', modified: 'M', deleted: 'D', moved: 'R', unchanged: ' ' }
  for (const { path, from, status, lines, merged } of changes) {
    const name = from === undefined ? path : `${from} → ${path}`
    say(`${style.up} ${letters[status]} ${name}  ${lines}${merged ? '  merged' : ''}`)
  }
}

export function sayFindings({ errors, issues }: PushReport, { warn }: Context): void {
  for (const { path, errors: found } of errors) {
    for (const { line, column, message } of found) warn(`${path}:${line}:${column} ${message}`)
  }
  for (const { path, issues: found } of issues) {
    for (const { severity, line, column, message } of found) {
      warn(`${path}:${line}:${column} ${severity}: ${message}`)
    }
  }
}
