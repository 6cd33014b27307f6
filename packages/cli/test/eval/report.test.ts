import { expect, test } from 'vitest'
import { outcomeOf } from '../../src/commands/eval/report/eval-result.ts'
import { summaryOf, warningsOf } from '../../src/commands/eval/report/github.ts'
import { junitOf, type TestedRow } from '../../src/commands/eval/report/junit.ts'
import { resultText, spanOf, usd } from '../../src/commands/eval/report/result-text.ts'
import { githubCommand, withoutCommands } from '../../src/terminal/github.ts'
import { createStyle, guardOutput } from '../../src/terminal/terminal-style.ts'
import { ioIn } from '../support/test-io.ts'
import { aloneWith, armNamed, broken, gateWith, pairWith, resultWith } from './samples.ts'

const style = createStyle(ioIn({ cwd: '/' }), false)

const OUTCOMES: [what: string, result: ReturnType<typeof resultWith>, outcome: string][] = [
  ['the verdict of the comparison', resultWith(), 'fail null'],
  ['a pass', resultWith({ report: { pairs: [pairWith({ verdict: 'pass' })] } }), 'pass null'],
  [
    'the worst arm',
    resultWith({ report: { pairs: [pairWith({ verdict: 'inconclusive', code: 'unscored' }), pairWith({ arm: 2 })] } }),
    'fail null',
  ],
  [
    'an arm without a result, before one that passes',
    resultWith({
      report: { pairs: [pairWith({ verdict: 'pass' }), pairWith({ verdict: 'inconclusive', code: 'too-few-rows' })] },
    }),
    'inconclusive too-few-rows',
  ],
  ['a running experiment', resultWith({ experiment: { state: 'running' } }), 'inconclusive running'],
  ['a stopped experiment', resultWith({ experiment: { state: 'stopped' } }), 'inconclusive stopped'],
  ['a failed provider', resultWith({ experiment: { state: 'failed' } }), 'inconclusive stopped'],
  ['an agent that changed', resultWith({ experiment: { isStale: true } }), 'inconclusive stale'],
  ['a failed must row without a baseline', aloneWith(), 'fail null'],
  ['other failed rows without a baseline', aloneWith({ rows: [{ ...broken, must: false }] }), 'pass null'],
  ['no rows', aloneWith({ rows: [], report: { arms: [] } }), 'inconclusive too-few-rows'],
  [
    'more than 5 % unscored without a baseline',
    aloneWith({
      rows: [],
      report: {
        arms: resultWith()
          .report.arms.slice(0, 1)
          .map((arm) => ({ ...arm, unscored: [{ code: 'c', count: 3 }] })),
      },
    }),
    'inconclusive unscored',
  ],
]

test.each(OUTCOMES)('the outcome is %s', (_, { experiment, report, rows }, outcome) => {
  const { verdict, code } = outcomeOf(experiment, report, rows)
  expect(`${verdict} ${code}`).toBe(outcome)
})

test('people read what broke, the rates, the cost and what has no score', () => {
  expect(resultText(resultWith(), style)).toBe(`support/refund · 50 rows · draft "tone pass" against live v12
✖ 3 broke (1 must), 5 fixed, 42 same          $0.31 · 2 m 10 s
  broke  angry-customer  must  Checks: does not contain "refund"  9f0d6c1e
  … and 2 more
  94 % → 98 %, difference +4 points (95 % between −8 and +16) · cost −18 % · 1 unscored (1 provider_error)
  With these 50 rows, a difference below 12 points could be chance.
`)
})

test('several arms have a line each, and what keeps them from a verdict', () => {
  const pairs = [
    pairWith({ verdict: 'pass', broke: 0 }),
    pairWith({ arm: 2, verdict: 'inconclusive', code: 'unscored', broke: 0 }),
  ]
  const arms = ['live v12', 'draft "tone pass"', 'draft "tone pass", model=gpt-6'].map(armNamed)
  const text = resultText(
    resultWith({ rows: [], experiment: { arms, tag: 'smoke' }, report: { pairs, trials: 3 } }),
    style,
  )
  expect(text).toContain(
    'support/refund · 50 rows tagged smoke · 3 trials · draft "tone pass", draft "tone pass", model=gpt-6 against live v12\n',
  )
  expect(text).toContain('\n✔ draft "tone pass": 3 broke')
  expect(text).toContain('\n! draft "tone pass", model=gpt-6: 3 broke')
  expect(text).toContain('\n  inconclusive: more than 5 % of the answers have no score\n')
})

test.each([
  [aloneWith(), ['✖ 1 failed   ', '  failed  angry-customer  must  Checks: does not', '  no baseline · 0 unscored']],
  [resultWith({ report: { evaluations: [] } }), ['nothing scores these rows: add what they expect']],
  [resultWith({ report: { warnings: ['demo'] } }), ['the demo provider answered: the numbers mean nothing']],
  [
    resultWith({
      experiment: {
        state: 'stopped',
        reason: 'budget',
        counts: { total: 100, waiting: 30, running: 2, ended: 68, failed: 0 },
      },
    }),
    ['! stopped: the budget is spent; 32 of 100 runs did not end. Continue: stet eval resume 5b8f3c2a'],
  ],
  [resultWith({ experiment: { state: 'running', finishedAt: null } }), ['still running: stet eval watch 5b8f3c2a']],
  [resultWith({ gates: [{ verdict: 'fail', message: 'a must row\nbroke' }] }), ['✖ gate: a must row broke']],
  // A name or a reason of two lines stays on one.
  [
    resultWith({ rows: [{ ...broken, name: 'two\nlines', reason: 'a\r\nb' }] }),
    ['  broke  two lines  must  Checks: a b'],
  ],
  [
    resultWith({ rows: [{ ...broken, evaluation: null, reason: null, conversationUuid: null }] }),
    ['angry-customer  must\n'],
  ],
])('the text says so (%#)', (result, said) => {
  for (const part of said) expect(resultText(result, style)).toContain(part)
})

const tested = (row: Partial<TestedRow>): TestedRow => ({
  exampleUuid: 'e',
  name: 'n',
  arm: 1,
  state: 'passed',
  seconds: 1.25,
  ...row,
})

test('JUnit has a test for each row, and hostile texts stay attributes', () => {
  const rows = [
    tested({ exampleUuid: broken.exampleUuid, name: '<angry & "loud">', state: 'broke' }),
    tested({ name: 'bell\u0007\ud800', state: 'unscored' }),
    tested({ state: 'failed' }),
    tested({ state: 'unpaired' }),
    tested({}),
  ]
  expect(junitOf([{ result: resultWith(), tested: rows }])).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="stet eval">
  <testsuite name="support/refund · draft &quot;tone pass&quot; against live v12" tests="5" failures="1" skipped="1" errors="0" time="6.250" timestamp="2026-01-02T03:04:05.678Z">
    <properties>
      <property name="verdict" value="fail"/>
      <property name="experiment" value="5b8f3c2a-7d1e-4a96-8c0b-2e4f6a8c0d1e"/>
      <property name="head" value="support/refund · 50 rows · draft &quot;tone pass&quot; against live v12"/>
    </properties>
    <testcase classname="support/refund" name="&lt;angry &amp; &quot;loud&quot;&gt;" time="1.250">
      <failure message="Checks: does not contain &quot;refund&quot;" type="broke">conversation 9f0d6c1e-5b6a-5978-8695-a4b3c2d1e0f9</failure>
    </testcase>
    <testcase classname="support/refund" name="bell\ufffd\ufffd" time="1.250">
      <skipped message="unscored"/>
    </testcase>
    <testcase classname="support/refund" name="n" time="1.250">
      <system-out>fails in the baseline too</system-out>
    </testcase>
    <testcase classname="support/refund" name="n" time="1.250">
      <system-out>fails; has no result in the baseline</system-out>
    </testcase>
    <testcase classname="support/refund" name="n" time="1.250"/>
  </testsuite>
</testsuites>
`)
})

test('without a baseline, a failed row is a failure for JUnit', () => {
  const xml = junitOf([{ result: aloneWith(), tested: [tested({ arm: 0, state: 'failed' })] }])
  expect(xml).toContain('failures="1"')
  expect(xml).toContain('<failure message="fails" type="failed"></failure>')
})

test('the gates of all prompts are in JUnit and in the summary of GitHub, also without a result', () => {
  const gates = [
    gateWith({ verdict: 'pass' }),
    gateWith({ path: 'a|b', verdict: 'fail', message: '1 <broke>', rows: pairWith().rows.broke.slice(0, 1) }),
    gateWith({ gate: 1, verdict: 'inconclusive', message: 'no experiment' }),
  ]
  expect(junitOf([], gates)).toContain(`<testsuites name="stet eval">
  <testsuite name="gates" tests="3" failures="1" skipped="1" errors="0">
    <testcase classname="other" name="gate 1"/>
    <testcase classname="a|b" name="gate 1">
      <failure message="1 &lt;broke&gt;" type="gate"/>
    </testcase>
    <testcase classname="other" name="gate 2">
      <skipped message="no experiment"/>
    </testcase>
  </testsuite>
</testsuites>`)
  const summary = summaryOf([], gates)
  expect(summary).toMatch(/^### stet eval\n\n\*\*Gates of other prompts\*\*\n\n- ✅ `other`: /)
  expect(summary).toMatch(/\n- ❌ `a\|b`: 1 &lt;broke>\n {2}- \*\*broke\*\* .+\n- ⚠️ `other`: no experiment\n/)
  expect(summaryOf([resultWith()], gates)).toMatch(/42 same[\s\S]*\*\*Gates of other prompts\*\*/)
})

test("GitHub's summary has a line for each comparison, and hostile texts add nothing to it", () => {
  const name = '![x](http://evil) | <b>\n### `h` @team'
  const summary = summaryOf([resultWith({ rows: [{ ...broken, name }], gates: [{ verdict: 'pass', message: 'ok' }] })])
  expect(summary).toContain(
    '| `support/refund` | draft "tone pass" against live v12, 50 rows | ❌ 3 broke (1 must), 5 fixed, 42 same |',
  )
  expect(summary.split('\n').filter((line) => line.startsWith('- **'))).toHaveLength(1)
  expect(summary).not.toMatch(/!\[|<b>|\n###[^\n]*h|@team/)
  expect(summary).toContain('- ✅ gate: ok')
  expect(summaryOf([aloneWith()])).toContain('| ❌ 1 failed |')
  // A paragraph of its own, not the end of the list.
  expect(summaryOf([resultWith({ report: { warnings: ['demo'] } })])).toContain('\n\nThe demo provider answered')
})

test('warnings of GitHub name the file, at most ten of them, each on its line', () => {
  const rows = Array.from({ length: 12 }, (_, at) => ({ ...broken, name: `row ${at}, 100%\n::error::x` }))
  const lines = warningsOf([resultWith({ rows })], (path) => `prompts/${path}.promptl`).split('\n')
  expect(lines).toHaveLength(11)
  expect(lines[0]).toBe(
    '::warning file=prompts/support/refund.promptl,title=stet eval support/refund::row 0, 100%25 ::error::x broke (must): Checks: does not contain "refund"',
  )
  expect(warningsOf([resultWith()], () => null)).toMatch(/^::warning title=/)
})

test.each([
  [0, '0 s'],
  [59_400, '59 s'],
  [60_000, '1 m 0 s'],
  [130_000, '2 m 10 s'],
  [3_725_000, '1 h 2 m'],
])('%i ms are %s', (ms, text) => {
  expect(spanOf(ms)).toBe(text)
})

test.each([
  [0, '$0'],
  [0.004, '<$0.01'],
  [0.31, '$0.31'],
  [12.345, '$12.35'],
])('%d dollars are %s', (amount, text) => {
  expect(usd(amount)).toBe(text)
})

test('texts of others give the runner of GitHub no commands', () => {
  expect(withoutCommands('  broke  a ##[error]b\n ::error::c\nd::e\n')).toBe(
    '  broke  a # #[error]b\n : :error::c\nd::e\n',
  )
})

test('messages command the runner of GitHub only with the own commands of stet', () => {
  const printed = (env: Record<string, string>, isJson: boolean) => {
    let text = ''
    const err = (piece: string): void => {
      text += piece
    }
    const io = guardOutput(ioIn({ cwd: '/', env, err }), isJson)
    io.err(isJson ? '{"warning":"##[error]x"}\n' : 'no ##[error]x\n::error::y\n')
    io.err(githubCommand('error', { file: 'a,b:c', line: 1, title: null }, 'two\n100 %'), 'command')
    return text
  }
  const own = '::error file=a%2Cb%3Ac,line=1::two%0A100 %25\n'
  expect(printed({ GITHUB_ACTIONS: 'true' }, false)).toBe(`no # #[error]x\n: :error::y\n${own}`)
  expect(printed({ GITHUB_ACTIONS: 'true' }, true)).toBe(`{"warning":"#\\u0023[error]x"}\n${own}`)
  expect(printed({}, false)).toBe(`no ##[error]x\n::error::y\n${own}`)
})
