import type { ArmFigures, Experiment, ReportPair, Verdict } from '@stet/contract/vocabulary'
import { countOf, oneLine, shortUuid } from '../../../terminal/output.ts'
import type { Style } from '../../../terminal/terminal-style.ts'
import { type EvalResult, type NotedRow, sayCode } from './eval-result.ts'

const MOST_ROWS = 20

/** The result for people. Texts of rows and scorers are on one line each. */
export function resultText(result: EvalResult, style: Style): string {
  const { experiment, report, gates } = result
  const lines = [headOf(result)]
  if (report.pairs.length === 0) lines.push(...aloneLines(result, style))
  for (const pair of report.pairs) lines.push(...pairLines(pair, result, style))
  if (report.evaluations.every(({ counts }) => !counts))
    lines.push('  nothing scores these rows: add what they expect, or a rule with stet evaluations create --check')
  if (report.warnings.includes('demo')) lines.push(style.dim('  the demo provider answered: the numbers mean nothing'))
  if (experiment.state !== 'completed') lines.push(`  ${style.warn} ${endOf(experiment)}`)
  for (const { verdict, message } of gates) lines.push(`  ${markOf(verdict, style)} gate: ${oneLine(message)}`)
  return `${lines.join('\n')}\n`
}

/** @example 'support/refund · 50 rows · draft "tone pass" against live v12' */
export function headOf({ experiment, report }: Pick<EvalResult, 'experiment' | 'report'>): string {
  const { arms, path, tag } = experiment
  const [first, ...others] = arms.map(({ label }) => oneLine(label))
  const compared = others.length > 0 ? `${others.join(', ')} against ${first}` : (first ?? '')
  const rows = countOf(report.rows, 'row') + (tag === null ? '' : ` tagged ${tag}`)
  const trials = report.trials > 1 ? [`${report.trials} trials`] : []
  return [path, rows, ...trials, compared].join(' · ')
}

function pairLines(pair: ReportPair, { experiment, report, rows }: EvalResult, style: Style): string[] {
  const { arm, verdict, code, words } = pair
  const figures = report.arms.find((one) => one.arm === arm)
  // With several arms, each has a first line of its own.
  const name = report.pairs.length > 1 ? `${oneLine(experiment.arms[arm]?.label ?? '')}: ` : ''
  const lines = [`${markOf(verdict, style)} ${name}${words.counts}`.padEnd(45) + style.dim(` ${priceOf(experiment)}`)]
  if (verdict === 'inconclusive') lines.push(`  ${style.yellow('inconclusive')}: ${sayCode(code ?? null)}`)
  lines.push(
    ...rowLines(
      rows.filter((row) => row.arm === arm),
      pair.broke,
      style,
    ),
  )
  const isScored = words.rates !== ''
  if (isScored) lines.push(`  ${[words.rates, costChange(figures), unscoredOf(figures)].filter(Boolean).join(' · ')}`)
  if (words.chance !== '') lines.push(style.dim(`  ${words.chance}`))
  return lines
}

function aloneLines({ experiment, report, rows, verdict, code }: EvalResult, style: Style): string[] {
  const failed = rows.length
  const counts = `${failed} failed`
  const lines = [`${markOf(verdict, style)} ${counts}`.padEnd(45) + style.dim(` ${priceOf(experiment)}`)]
  if (verdict === 'inconclusive') lines.push(`  ${style.yellow('inconclusive')}: ${sayCode(code)}`)
  lines.push(...rowLines(rows, failed, style), `  no baseline · ${unscoredOf(report.arms[0])}`)
  return lines
}

function rowLines(rows: readonly NotedRow[], count: number, style: Style): string[] {
  const shown = rows.slice(0, MOST_ROWS)
  const width = Math.max(0, ...shown.map(({ name }) => oneLine(name).length))
  const lines = shown.map(({ kind, name, must, conversationUuid, ...row }) =>
    [
      `  ${style.red(kind)}`,
      oneLine(name).padEnd(width),
      must ? style.bold('must') : '    ',
      whyOf(row),
      style.dim(conversationUuid === null ? '' : shortUuid(conversationUuid)),
    ]
      .join('  ')
      .trimEnd(),
  )
  return count > shown.length ? [...lines, style.dim(`  … and ${count - shown.length} more`)] : lines
}

/** @example 'Checks: does not contain "refund"' */
export function whyOf({ evaluation, reason }: Pick<NotedRow, 'evaluation' | 'reason'>): string {
  return [evaluation, reason]
    .filter((text) => text !== null)
    .map(oneLine)
    .join(': ')
}

export function markOf(verdict: Verdict, style: Pick<Style, 'ok' | 'warn' | 'fail'>): string {
  return { pass: style.ok, inconclusive: style.warn, fail: style.fail }[verdict]
}

/** @example '$0.31 · 2 m 10 s' */
export function priceOf({ costUsd, createdAt, finishedAt }: Experiment): string {
  const took = finishedAt === null ? [] : [spanOf(Date.parse(finishedAt) - Date.parse(createdAt))]
  return [usd(costUsd), ...took].join(' · ')
}

/** @example '−18 %', for a ratio of 0.82 */
function costChange(figures: ArmFigures | undefined): string {
  if (figures?.costRatio === null || figures?.costRatio === undefined) return ''
  const percent = Math.round((figures.costRatio - 1) * 100)
  return `cost ${percent < 0 ? '−' : '+'}${Math.abs(percent)} %`
}

export function unscoredOf(figures: ArmFigures | undefined): string {
  const unscored = figures?.unscored ?? []
  const total = unscored.reduce((sum, { count }) => sum + count, 0)
  const codes = unscored.map(({ code, count }) => `${count} ${oneLine(code)}`).join(', ')
  return total === 0 ? '0 unscored' : `${total} unscored (${codes})`
}

function endOf({ state, reason, counts, uuid }: Experiment): string {
  const rest = `${counts.waiting + counts.running} of ${countOf(counts.total, 'run')} did not end`
  if (state === 'running') return `still running: stet eval watch ${shortUuid(uuid)}`
  const why = {
    user: 'stopped',
    budget: 'stopped: the budget is spent',
    key: 'stopped: its API key was revoked',
    provider: 'ended after ten failures of the provider in a row',
  }
  return `${reason === null ? state : why[reason]}; ${rest}. Continue: stet eval resume ${shortUuid(uuid)}`
}

export function usd(amount: number): string {
  if (amount === 0) return '$0'
  return amount < 0.01 ? '<$0.01' : `$${amount.toFixed(2)}`
}

/** @example spanOf(130_000) // '2 m 10 s' */
export function spanOf(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  return hours > 0 ? `${hours} h ${minutes} m` : `${minutes} m ${seconds % 60} s`
}
