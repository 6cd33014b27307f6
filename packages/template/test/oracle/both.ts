/** Runs a prompt in stet and in promptl-ai with the repairs that stet made to it, up to all steps. */

import { compilePrompt, type PromptSource } from '../../src/compiled-prompt.ts'
import { wellFormed } from '../../src/evaluate/values/printed.ts'
import { type CompileIssue, CompileIssueError, type RenderedMessage, renderStep } from '../../src/index.ts'
import { oraclePrompt, renderByEngine } from './render-step.ts'

export interface Outcome {
  /** The rendered steps, as JSON. */
  steps: unknown[]
  issue: CompileIssue | undefined
}

type AnyStep = { done: boolean; state?: unknown }
type Render = (input: { state?: unknown; answer?: RenderedMessage[] }) => AnyStep | Promise<AnyStep>
export type Answer = string | RenderedMessage[]

const now = '2026-01-02T03:04:05.000Z'

export function outcomeOfStet(source: PromptSource, parameters: Record<string, unknown>, answers: Answer[]) {
  const prompt = compilePrompt(source)
  const own = structuredClone(parameters)
  return outcomeOf((goOn) => renderStep(prompt, { parameters: own, now, ...(goOn as object) }), answers)
}

export function outcomeOfEngine(source: PromptSource, parameters: Record<string, unknown>, answers: Answer[]) {
  const prompt = oraclePrompt(source)
  const own = structuredClone(parameters)
  // The server replaced such characters in what the engine returned.
  const outcome = outcomeOf((goOn) => renderByEngine(prompt, { parameters: own, now, ...(goOn as object) }), answers)
  return outcome.then(({ steps, issue }) => ({ steps: steps.map(wellFormedTexts), issue }))
}

function wellFormedTexts(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) =>
    typeof each === 'string' ? wellFormed(each) : each,
  )
}

async function outcomeOf(render: Render, answers: readonly Answer[]): Promise<Outcome> {
  const steps: unknown[] = []
  try {
    let goOn: Parameters<Render>[0] = {}
    for (const answer of [...answers, undefined]) {
      const step = JSON.parse(JSON.stringify(await render(goOn))) as AnyStep
      const { state, ...shown } = step
      steps.push(shown)
      if (step.done || answer === undefined) break
      goOn = { state, answer: messagesOf(answer) }
    }
  } catch (error) {
    if (!(error instanceof CompileIssueError)) throw error
    return { steps, issue: error.issue }
  }
  return { steps, issue: undefined }
}

function messagesOf(answer: Answer): RenderedMessage[] {
  return typeof answer === 'string' ? [{ role: 'assistant', content: [{ type: 'text', text: answer }] }] : answer
}

const KEPT_KEYS = new Set(['done', 'input', 'added', 'role', 'content', 'type', 'text'])

/** The intended differences from promptl-ai 0.12.0. */
export function differenceOf(ours: Outcome, theirs: Outcome): string | undefined {
  const [our, their] = [ours.issue, theirs.issue]
  if (/Cannot convert object to primitive value/.test(their?.message ?? '')) return 'A: own toString'
  if (/Cannot set the member/.test(our?.message ?? '')) return 'B: members of lists and dates'
  if (our?.code === 'invalid-tool-call-arguments') return 'C: arguments are checked at their tag'
  const isMember = our?.code === 'variable-not-defined' && their?.code === our.code
  // V8 omits a key that is no text.
  if (isMember && our.message.startsWith(their.message.split(' (')[0] ?? '')) return 'D: the member is marked'
  const isTooDeep =
    their?.code === 'limit-exceeded' &&
    sortedJson(ours.steps.slice(0, theirs.steps.length)) === sortedJson(theirs.steps)
  if (isTooDeep && our?.message === their.message) return 'D: another place of a value that is too deep'
  if (!our && !their && withoutAttributes(ours) === withoutAttributes(theirs)) return 'E: attributes are copied'
  if (isEqualUpToAnswer(ours, theirs)) return 'F: nothing is evaluated again after an answer'
  if (!our && their?.code === 'limit-exceeded') return 'I: no variables are stored after the last step'
  if (our && their && isBefore(our, their)) return 'J: of several faults, the first one is reported'
  return undefined
}

/** promptl-ai evaluates the arguments of a call at the same time. */
function isBefore(our: CompileIssue, their: CompileIssue): boolean {
  return our.line < their.line || (our.line === their.line && our.column <= their.column)
}

function withoutAttributes({ steps }: Outcome): string {
  return JSON.stringify(steps, (key, value) => (KEPT_KEYS.has(key) || /^\d*$/.test(key) ? value : undefined))
}

/** promptl-ai evaluates attributes, conditions and lists around a step again when its answer arrives. */
function isEqualUpToAnswer(ours: Outcome, theirs: Outcome): boolean {
  const [first] = ours.steps
  return first !== undefined && sortedJson(first) === sortedJson(theirs.steps[0])
}

export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => sortedKeys(each)) ?? ''
}

function sortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
