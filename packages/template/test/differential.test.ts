import { expect, it } from 'vitest'
import { compilePrompt } from '../src/compiled-prompt.ts'
import { type Answer, differenceOf, type Outcome, outcomeOfEngine, outcomeOfStet, sortedJson } from './oracle/both.ts'
import { randomPrograms } from './random-programs.ts'
import { sourceOf } from './support.ts'

const isLong = process.env['STET_TEST_LONG'] === '1'
const PROGRAMS = isLong ? 50_000 : 2_000
const SEED = Number(process.env['STET_TEST_SEED'] ?? 1)

const fenced = [{ role: 'assistant', content: [{ type: 'text', text: '```json\n{"a":[1]}\n```' }] }]
const ANSWERS: Answer[] = ['one', '{"a":1}', fenced, 'four', 'five', 'six']

it('renders random programs as promptl-ai does, apart from the intended differences', async () => {
  const counts: Record<string, number> = {}
  const unexplained: unknown[] = []
  for (const { content, parameters } of randomPrograms(PROGRAMS, SEED)) {
    const source = sourceOf(content)
    const { issues, usesSteps } = compilePrompt(source)
    if (issues.length > 0) continue
    const answers = usesSteps ? ANSWERS : []
    const ours = await outcomeOfStet(source, parameters, answers)
    // Only stet limits the work. The engine would run for minutes.
    if (ours.issue?.code === 'limit-exceeded' && /too long|larger/.test(ours.issue.message)) continue
    const theirs = await outcomeOfEngine(source, parameters, answers)
    const isEqual = outcomeText(ours) === outcomeText(theirs)
    const difference = isEqual ? 'none' : (differenceOf(ours, theirs) ?? orderOf(content))
    if (difference === undefined) unexplained.push({ content, parameters, ours, theirs })
    counts[difference ?? 'unexplained'] = (counts[difference ?? 'unexplained'] ?? 0) + 1
  }
  console.log(counts)
  expect(JSON.stringify(unexplained.slice(0, 4), null, 1)).toBe('[]')
  expect(counts['none']).toBeGreaterThan(PROGRAMS / 2)
}, 3_600_000)

/** promptl-ai evaluates the arguments of a call at the same time, so one of them may not see what another changes. */
function orderOf(content: string): string | undefined {
  const changes = /\w\([^{}]*\.(?:push|pop|shift|unshift|reverse)\([^{}]*,/.test(content)
  return changes ? 'J: arguments are evaluated in order' : undefined
}

function outcomeText({ steps, issue }: Outcome): string {
  const { message: _, frame: __, ...place } = issue ?? { message: '', frame: '' }
  return sortedJson([steps, place])
}
