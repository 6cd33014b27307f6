import { expect, it } from 'vitest'
import { answerStep } from '../src/evaluate/answer.ts'
import { Machine } from '../src/evaluate/machine.ts'
import { Scope } from '../src/evaluate/scope.ts'
import { EvaluationError, Meter } from '../src/evaluate/values/fuel.ts'
import {
  type CompiledPrompt,
  CompileIssueError,
  compilePrompt,
  type RenderedMessage,
  renderStep,
} from '../src/index.ts'
import { type RandomProgram, randomPrograms } from './random-programs.ts'
import { now, sourceOf } from './support.ts'

const CHAINS = process.env['STET_TEST_LONG'] === '1' ? 5_000 : 100
const SEED = Number(process.env['STET_TEST_SEED'] ?? 1)
const ANSWERS = ['one', '{"a":[1]}', 'three', '{"b":{}}'].map((text): RenderedMessage[] => [
  { role: 'assistant', content: [{ type: 'text', text }] },
])

interface Rendered {
  steps: RenderedMessage[][]
  code: string | undefined
}

/** One machine that continues after each step, without storing its state. */
function withoutStop({ program, parameters: names }: CompiledPrompt, given: RandomProgram['parameters']): Rendered {
  if (!program) throw new Error('It does not compile')
  const machine = new Machine({ meter: new Meter(), now: Date.parse(now) })
  const scope = new Scope()
  const own = structuredClone(given) as RandomProgram['parameters']
  for (const name of names) if (Object.hasOwn(own, name)) scope.values.set(name, own[name] as never)
  machine.stack.push({ kind: 'list', node: program.fragment, isElse: false, at: 0, scope, isInContent: false })
  const steps: RenderedMessage[][] = []
  try {
    for (const answer of [...ANSWERS, undefined]) {
      const { length } = machine.output.messages
      machine.step = undefined
      machine.advance()
      steps.push(machine.output.messages.slice(length))
      if (!machine.step || !answer) break
      answerStep(machine, answer)
    }
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error
    return { steps, code: error.code }
  }
  return { steps, code: undefined }
}

function withStops(prompt: CompiledPrompt, parameters: RandomProgram['parameters']): Rendered {
  const steps: RenderedMessage[][] = []
  try {
    let step = renderStep(prompt, { parameters, now })
    steps.push(step.added)
    for (const answer of ANSWERS) {
      if (step.done || !step.state.machine) break
      const state = JSON.parse(JSON.stringify(step.state)) as typeof step.state
      step = renderStep(prompt, { parameters, now, state, answer })
      steps.push(step.added)
    }
  } catch (error) {
    if (!(error instanceof CompileIssueError)) throw error
    return { steps, code: error.issue.code }
  }
  return { steps, code: undefined }
}

it('a chain that is stopped, stored as JSON and restored continues as if it had never stopped', () => {
  let compared = 0
  for (const { content, parameters } of randomPrograms(CHAINS * 100, SEED)) {
    if (!content.includes('<step')) continue
    const prompt = compilePrompt(sourceOf(content))
    if (prompt.issues.length > 0) continue
    const stopped = withStops(prompt, structuredClone(parameters))
    // The depth of values is limited where they are stored.
    if (stopped.steps.length < 2 || stopped.code === 'limit-exceeded') continue
    expect(JSON.stringify(stopped), content).toBe(JSON.stringify(withoutStop(prompt, parameters)))
    compared += 1
    if (compared === CHAINS) break
  }
  expect(compared).toBe(CHAINS)
})
