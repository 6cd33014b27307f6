/** Reads the answer to a prompt with a schema: parses its JSON, and checks the value against the schema. */

import { RunError } from '../../../shared/app-error.ts'
import { parseStorable, storableText } from '../../../shared/text-guards.ts'
import type { Needs } from '../../deps.ts'
import type { FinishReason } from '../../providers/model-driver.ts'
import type { RunWatch } from '../events/run-progress.ts'
import type { ModelAnswer } from './call-model.ts'
import type { RunPlan, StepSetUp } from './run-plan.ts'

interface StructuredStep extends Pick<RunWatch, 'signal'> {
  setUp: StepSetUp
  plan: RunPlan
  answer: Pick<ModelAnswer, 'text' | 'finishReason'>
}

/**
 * @throws RunError `invalid_response_format_error` for text that is not JSON, and for a value that does not match the
 * schema or cannot be checked.
 */
export async function structuredAnswer(deps: Needs<'templates'>, step: StructuredStep): Promise<unknown> {
  const { setUp, plan, answer, signal } = step
  const { schema, validate } = setUp.prompt
  const value = readStructuredAnswer(answer)
  // The demo provider does not satisfy every schema, for example patterns.
  if (!schema || !validate || setUp.provider.isDemo) return value
  const owner = { workspaceId: plan.tools.workspaceId, apiKeyId: plan.apiKeyId, signal, isRun: true }
  const check = await deps.templates.checkAnswer({ schema, value }, owner)
  if ('failure' in check) {
    const message = `The response cannot be checked against the schema: ${check.failure}`
    throw formatError(`${message}. \`validate: false\` turns the check off.`, answer, {})
  }
  const [first] = check.issues
  if (!first) return value
  const where = first.path === '' ? '' : ` at ${first.path}`
  throw formatError(`The response does not match the schema${where}: ${first.message}`, answer, {
    issues: check.issues,
  })
}

/** Why an answer ended before it was complete. */
const ends = new Map<FinishReason, string>([
  ['length', 'it was cut off at the output limit'],
  ['content-filter', 'the model refused, or a content filter ended it'],
  ['error', 'the provider ended it with an error'],
])

/** @throws RunError `invalid_response_format_error` if the text is not JSON. */
export function readStructuredAnswer(answer: StructuredStep['answer']): unknown {
  try {
    return parseStorable(withoutFence(withoutThought(answer.text)))
  } catch (cause) {
    const end = ends.get(answer.finishReason)
    const message = `The response was requested as JSON, but ${end ?? 'it does not parse'}`
    throw formatError(message, answer, {}, cause)
  }
}

const shownCharacters = 2_000

function formatError(
  message: string,
  { text, finishReason }: StructuredStep['answer'],
  more: Record<string, unknown>,
  cause?: unknown,
): RunError {
  const details = { ...more, text: storableText(text.slice(0, shownCharacters)), finishReason }
  return new RunError('invalid_response_format_error', message, { details, cause })
}

const thoughtEnd = '</think>'

/** Removes the reasoning before an answer. Some services omit the opening mark. */
function withoutThought(text: string): string {
  const end = /^\s*[[{"`]/.test(text) ? -1 : text.indexOf(thoughtEnd)
  return end < 0 ? text : text.slice(end + thoughtEnd.length)
}

const fence = '```'
const opening = /^\s*```[\w-]*[ \t]*\r?\n/

// A regular expression for the closing fence would backtrack over long runs of blanks.
function withoutFence(text: string): string {
  const opened = opening.exec(text)
  const rest = text.trimEnd()
  if (!opened || !rest.endsWith(fence) || rest.length < opened[0].length + fence.length) return text
  return rest.slice(opened[0].length, -fence.length)
}
