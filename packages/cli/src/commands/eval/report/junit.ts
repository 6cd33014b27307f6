import type { GateVerdict } from '@stet/sdk'
import { type EvalResult, sayCode } from './eval-result.ts'
import { headOf, whyOf } from './result-text.ts'

/** A row of an experiment, for the report of a test runner. */
export interface TestedRow {
  exampleUuid: string
  name: string
  arm: number
  /** `failed` in a comparison fails in both texts, which is no regression. `unpaired` fails, with no result in the baseline. */
  state: 'passed' | 'broke' | 'failed' | 'unscored' | 'unpaired'
  seconds: number
}

/**
 * JUnit's XML, as CI systems read it: a suite for each arm with a test for each row, and one with a test for each gate. A
 * row that broke is a failure.
 */
export function junitOf(
  results: readonly { result: EvalResult; tested: readonly TestedRow[] }[],
  gates: readonly GateVerdict[] = [],
): string {
  const suites = results.flatMap(({ result, tested }) =>
    [...new Set(tested.map(({ arm }) => arm))].map((arm) =>
      suiteOf(
        result,
        arm,
        tested.filter((row) => row.arm === arm),
      ),
    ),
  )
  if (gates.length > 0) suites.push(suiteOfGates(gates))
  return documentOf(suites)
}

/** A test with an error, because many readers take a file without tests for a success. */
export function junitWithoutResult(message: string): string {
  const head = attributes({ name: 'stet eval', tests: '1', failures: '0', skipped: '0', errors: '1' })
  const test = attributes({ classname: 'stet eval', name: 'examples' })
  const error = `<error ${attributes({ message, type: 'inconclusive' })}/>`
  return documentOf([
    `  <testsuite ${head}>\n    <testcase ${test}>\n      ${error}\n    </testcase>\n  </testsuite>\n`,
  ])
}

function documentOf(suites: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="stet eval">\n${suites.join('')}</testsuites>\n`
}

function suiteOfGates(gates: readonly GateVerdict[]): string {
  const count = (verdict: GateVerdict['verdict']) => String(gates.filter((gate) => gate.verdict === verdict).length)
  const head = attributes({
    name: 'gates',
    tests: String(gates.length),
    failures: count('fail'),
    skipped: count('inconclusive'),
    errors: '0',
  })
  const cases = gates.map(({ path, gate, verdict, message }) => {
    const test = attributes({ classname: path, name: `gate ${gate + 1}` })
    if (verdict === 'pass') return `    <testcase ${test}/>\n`
    const result =
      verdict === 'fail'
        ? `<failure ${attributes({ message, type: 'gate' })}/>`
        : `<skipped ${attributes({ message })}/>`
    return `    <testcase ${test}>\n      ${result}\n    </testcase>\n`
  })
  return `  <testsuite ${head}>\n${cases.join('')}  </testsuite>\n`
}

function suiteOf(result: EvalResult, arm: number, tested: readonly TestedRow[]): string {
  const { experiment, report, verdict, code } = result
  const isCompared = report.pairs.length > 0
  const isFailure = (row: TestedRow): boolean => row.state === 'broke' || (row.state === 'failed' && !isCompared)
  const count = (test: (row: TestedRow) => boolean): number => tested.filter(test).length
  const label = experiment.arms[arm]?.label ?? ''
  const head = attributes({
    name: isCompared
      ? `${experiment.path} · ${label} against ${experiment.arms[0]?.label ?? ''}`
      : `${experiment.path} · ${label}`,
    tests: String(tested.length),
    failures: String(count(isFailure)),
    skipped: String(count(({ state }) => state === 'unscored')),
    errors: '0',
    time: tested.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(3),
    timestamp: experiment.createdAt,
  })
  const properties = {
    verdict,
    code: code === null ? '' : sayCode(code),
    experiment: experiment.uuid,
    head: headOf(result),
  }
  const property = Object.entries(properties)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `      <property ${attributes({ name, value })}/>\n`)
  const cases = tested.map((row) => caseOf(row, result, isFailure(row), isCompared))
  return `  <testsuite ${head}>\n    <properties>\n${property.join('')}    </properties>\n${cases.join('')}  </testsuite>\n`
}

function caseOf(row: TestedRow, { experiment, rows }: EvalResult, isFailure: boolean, isCompared: boolean): string {
  const head = attributes({ classname: experiment.path, name: row.name, time: row.seconds.toFixed(3) })
  const noted = rows.find(({ exampleUuid, arm }) => exampleUuid === row.exampleUuid && arm === row.arm)
  const why = noted ? whyOf(noted) : ''
  if (isFailure) {
    const message = why || (row.state === 'broke' ? 'passes in the baseline' : 'fails')
    const conversation = noted?.conversationUuid ? `conversation ${noted.conversationUuid}` : ''
    return `    <testcase ${head}>\n      <failure ${attributes({ message, type: row.state })}>${escaped(conversation)}</failure>\n    </testcase>\n`
  }
  if (row.state === 'unscored') return `    <testcase ${head}>\n      <skipped message="unscored"/>\n    </testcase>\n`
  if (row.state === 'unpaired')
    return `    <testcase ${head}>\n      <system-out>fails; has no result in the baseline</system-out>\n    </testcase>\n`
  if (row.state === 'failed' && isCompared)
    return `    <testcase ${head}>\n      <system-out>fails in the baseline too</system-out>\n    </testcase>\n`
  return `    <testcase ${head}/>\n`
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(' ')
}

// XML 1.0 has no form for most control characters, lone surrogates and the two non-characters.
const unwritable =
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const marks: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
}

function escaped(text: string): string {
  return text.replaceAll(unwritable, '\ufffd').replaceAll(/[&<>"\n\r\t]/g, (mark) => marks[mark] ?? mark)
}
