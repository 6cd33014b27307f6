import { CallerLimitError, CompileIssueError, issueAt } from '../compile-error.ts'
import type { CompiledPrompt } from '../compiled-prompt.ts'
import { withOverrides } from '../front-matter/config.ts'
import { answerStep } from './answer.ts'
import { Machine } from './machine.ts'
import type { RenderedMessage } from './messages.ts'
import type { Program } from './program.ts'
import { Scope } from './scope.ts'
import { restoreMachine, type StoredMachine, storeMachine } from './state/machine-state.ts'
import { EvaluationError, MAX_FUEL, Meter, OutOfFuelError } from './values/fuel.ts'
import { copied, jsonValue } from './values/printed.ts'
import type { ObjectValue, Value } from './values/values.ts'

export interface StepInput {
  parameters: Readonly<Record<string, unknown>>
  /** The value of `$now` in ISO 8601. */
  now: string
  /** The state that the previous step returned. The first step has none. */
  state?: ChainState
  /** The messages that the previous step's model calls added. The last assistant message is the final answer. */
  answer?: RenderedMessage[]
  /** Settings that rank above the front matter and below the attributes of a step. */
  overrides?: object
}

export interface ChainState {
  /** The messages that later steps send before their own. Excludes the messages of isolated steps. */
  history: RenderedMessage[]
  isolated: boolean
  /** Null if the prompt has ended. */
  machine: StoredMachine | null
}

export type RenderedStep =
  | {
      done: false
      input: RenderedMessage[]
      /** The messages that this step rendered. */
      added: RenderedMessage[]
      config: Record<string, unknown>
      state: ChainState
    }
  | { done: true; added: RenderedMessage[] }

/**
 * Renders the next step. The first step is never `done`, even if it renders no message.
 * @param fuel the caller's own limit, instead of that of the language
 * @param meter counts the fuel
 * @throws CompileIssueError; CallerLimitError with its place as `cause`, if the limit is less than that of the language
 */
export function renderStep(
  prompt: CompiledPrompt,
  input: StepInput,
  fuel = MAX_FUEL,
  meter = new Meter(fuel),
): RenderedStep {
  const { program } = prompt
  if (!program) throw new CompileIssueError(prompt.issues[0] ?? issueAt(prompt.place(0), 'parse-error', 'It is broken'))
  if (input.state && !input.state.machine) return { done: true, added: [] }
  try {
    return nextStep(prompt, program, input, meter)
  } catch (error) {
    const cause = positioned(prompt, meter, error)
    throw error instanceof OutOfFuelError && fuel < MAX_FUEL ? new CallerLimitError({ cause }) : cause
  }
}

function nextStep(prompt: CompiledPrompt, program: Program, input: StepInput, meter: Meter): RenderedStep {
  const { state, answer = [] } = input
  const machine = new Machine({ meter, now: Date.parse(input.now) })
  const parameters = parametersOf(prompt, program, input, meter)
  if (state?.machine) {
    restoreMachine(machine, state.machine, program, parameters)
    answerStep(machine, answer)
  } else machine.stack.push(firstFrame(program, parameters))
  machine.advance()
  const added = machine.output.messages
  if (state && !machine.step && added.length === 0) return { done: true, added: [] }
  const front = input.overrides ? withOverrides(prompt.config, input.overrides) : prompt.config
  const { config, isolated } = configOf(front, machine.step)
  const before = state ? [...state.history, ...(state.isolated ? [] : answer)] : []
  const all = [...before, ...added]
  const next = machine.step ? storeMachine(machine, program, program.changesValues ? {} : parameters) : null
  return {
    done: false,
    // Each list is the receiver's own.
    input: isolated ? [...added] : all,
    added,
    config,
    state: prompt.usesSteps
      ? { history: isolated ? before : [...all], isolated, machine: next }
      : { history: [], isolated: false, machine: null },
  }
}

function firstFrame({ fragment }: Program, parameters: ObjectValue) {
  const scope = new Scope()
  // bounded: each name is in the text of the prompt
  for (const [name, value] of Object.entries(parameters)) scope.values.set(name, value)
  return { kind: 'list', node: fragment, isElse: false, at: 0, scope, isInContent: false } as const
}

/** A prompt that changes no value reads the caller's values in place. */
function parametersOf(
  { parameters: names }: CompiledPrompt,
  { changesValues }: Program,
  { parameters: given, state }: StepInput,
  meter: Meter,
): ObjectValue {
  const parameters: ObjectValue = {}
  for (const name of names) {
    if (!Object.hasOwn(given, name)) continue
    const value = given[name] as Value
    parameters[name] = changesValues && !state ? copied(value, meter) : value
  }
  return parameters
}

/** A step's attributes override the front matter, except those without a value. */
function configOf(front: Readonly<Record<string, unknown>>, step: ObjectValue = {}) {
  const { as: _as, raw: _raw, ...own } = step
  const set = Object.entries(own).filter(([key, value]) => value !== undefined || !Object.hasOwn(front, key))
  const written = Object.fromEntries(set.map(([key, value]) => [key, jsonValue(value)]))
  const { isolated, ...config }: Record<string, unknown> = { ...front, ...written }
  return { config, isolated: Boolean(isolated) }
}

function positioned(prompt: CompiledPrompt, { at: last }: Meter, error: unknown): unknown {
  if (error instanceof EvaluationError) {
    const { start, end } = error.at ?? last ?? { start: 0, end: undefined }
    return new CompileIssueError(issueAt(prompt.place(start, end), error.code, error.message))
  }
  if (!(error instanceof RangeError)) return error
  // The stack of the caller was nearly full, or a text was longer than the platform allows.
  return new CompileIssueError(issueAt(prompt.place(last?.start ?? 0, last?.end), 'limit-exceeded', error.message))
}
