/** The verdicts of gates, as a person reads them before a publication. */
import type { GateVerdict } from '@stet/sdk'
import { CliError } from '../exit-code.ts'
import { countOf } from '../terminal/output.ts'
import type { Style } from '../terminal/terminal-style.ts'

/** One line for each verdict, and one for each broken row below it. */
export function gateLines(gates: readonly GateVerdict[], style: Style): string[] {
  return gates.flatMap((gate) => [`${markOf(gate, style)} ${lineOf(gate)}`, ...rowLines(gate)])
}

/** @param gates those that refuse the publication. */
export function refusedGates(gates: readonly GateVerdict[]): CliError {
  const isFailed = gates.some(({ verdict }) => verdict === 'fail')
  const paths = [...new Set(gates.map(({ path }) => path))]
  const [message, hint] = isFailed
    ? ['A gate fails; nothing was published', 'fix the broken rows']
    : ['A gate has no result that it can trust; nothing was published', `run stet eval ${paths.join(' ')}`]
  return new CliError(isFailed ? 'verdict_failed' : 'inconclusive', message, {
    lines: gates.flatMap((gate) => [lineOf(gate), ...rowLines(gate)]),
    hint: `${hint}, or pass --override gate --reason "<why>" with an admin key`,
  })
}

function lineOf({ path, message, experimentUuid, labels }: GateVerdict): string {
  const experiment = experimentUuid === null ? '' : ` · experiment ${experimentUuid.slice(0, 8)}`
  const people = labels.count === 0 ? '' : ` · ${countOf(labels.count, 'label')} by people`
  return `${path}: ${message}${people}${experiment}`
}

function rowLines({ verdict, rows }: GateVerdict): string[] {
  return verdict === 'fail' ? rows.map(({ name, must }) => `  broke  ${name}${must ? '  must' : ''}`) : []
}

function markOf({ verdict }: GateVerdict, style: Style): string {
  return { pass: style.ok, fail: style.fail, inconclusive: style.warn }[verdict]
}
