import type { GateVerdict } from '@stet/sdk'
import { githubCommand } from '../../../terminal/github.ts'
import { countOf, oneLine, shortUuid } from '../../../terminal/output.ts'
import { type EvalResult, sayCode } from './eval-result.ts'
import { priceOf, unscoredOf, whyOf } from './result-text.ts'

/** GitHub shows at most ten warnings of a step. */
const MOST_WARNINGS = 10
const MOST_ROWS = 50

const marks = { pass: '✅', fail: '❌', inconclusive: '⚠️' } as const

/**
 * A summary of the job in Markdown: a table with a line for each comparison, and the rows that broke.
 * @param gates those of prompts without a result here
 */
export function summaryOf(results: readonly EvalResult[], gates: readonly GateVerdict[] = []): string {
  const lines = results.flatMap((result) => lineOf(result))
  const table = ['| Prompt | Compared | Result | Pass rate | Cost and time |', '|---|---|---|---|---|', ...lines]
  const parts = [
    ...(results.length > 0 ? [`${table.join('\n')}\n\n`] : []),
    ...results.map(detailsOf),
    ...(gates.length > 0 ? [`**Gates of other prompts**\n\n${gates.map(gateLine).join('')}\n`] : []),
  ]
  return `### stet eval\n\n${parts.join('')}`
}

function lineOf({ experiment, report, rows, verdict, code }: EvalResult): string[] {
  const label = (arm: number): string => experiment.arms[arm]?.label ?? ''
  const rowCount = countOf(report.rows, 'row')
  const cells = report.pairs.map((pair) => [
    `${label(pair.arm)} against ${label(0)}, ${rowCount}`,
    `${marks[pair.verdict]} ${pair.words.counts}${pair.verdict === 'inconclusive' ? ` (${sayCode(pair.code ?? null)})` : ''}`,
    pair.words.rates,
    priceOf(experiment),
  ])
  if (cells.length === 0) {
    const why = verdict === 'inconclusive' ? ` (${sayCode(code)})` : ''
    cells.push([`${label(0)}, ${rowCount}`, `${marks[verdict]} ${rows.length} failed${why}`, '', priceOf(experiment)])
  }
  return cells.map((row) => `| \`${experiment.path}\` | ${row.map(markdown).join(' | ')} |`)
}

function gateLine({ path, verdict, message, rows }: GateVerdict): string {
  const broke = verdict === 'fail' ? rows.map(({ name }) => `  - **broke** ${markdown(name)}\n`) : []
  return `- ${marks[verdict]} \`${path}\`: ${markdown(message)}\n${broke.join('')}`
}

function detailsOf({ experiment, report, rows, gates }: EvalResult): string {
  const shown = rows.slice(0, MOST_ROWS)
  const found = shown.map(
    (row) =>
      `- **${row.kind}**${row.must ? ' (must)' : ''} ${markdown(row.name)}: ${markdown(whyOf(row))}${row.conversationUuid ? ` \`${shortUuid(row.conversationUuid)}\`` : ''}\n`,
  )
  const rest = rows.length > shown.length ? [`- and ${rows.length - shown.length} more\n`] : []
  const gated = gates.map(({ verdict, message }) => `- ${marks[verdict]} gate: ${markdown(message)}\n`)
  const notes = report.warnings.includes('demo') ? ['\nThe demo provider answered: the numbers mean nothing.\n'] : []
  const unscored = report.arms.map(unscoredOf).filter((text) => !text.startsWith('0 '))
  const all = [...found, ...rest, ...gated, ...unscored.map((text) => `- ${markdown(text)}\n`), ...notes]
  return all.length === 0 ? '' : `**\`${experiment.path}\`**\n\n${all.join('')}\n`
}

/** One warning for each row that broke, at the prompt's file if there is one. */
export function warningsOf(results: readonly EvalResult[], fileOf: (path: string) => string | null): string {
  const all = results.flatMap(({ experiment, rows }) => rows.map((row) => ({ path: experiment.path, ...row })))
  return all
    .slice(0, MOST_WARNINGS)
    .map(({ path, ...row }) => {
      const what = `${row.name} ${row.kind}${row.must ? ' (must)' : ''}: ${whyOf(row)}`
      return githubCommand('warning', { file: fileOf(path), title: `stet eval ${path}` }, oneLine(what))
    })
    .join('')
}

/** Names and reasons are texts of others: they may add no cell, no line, no link, no image and no HTML. */
function markdown(text: string): string {
  return oneLine(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]!|~@#]/g, (mark) => `&#${mark.charCodeAt(0)};`)
}
