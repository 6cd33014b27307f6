/** Sets up a step, and reads its answer: with a schema, parses the JSON and checks the value against the schema. */
import type { Message, ToolCall } from '@stet/contract/vocabulary'
import { withDefaults } from '@stet/template/config'
import { RunError } from '../../../shared/app-error.ts'
import { parseStorable, storableText } from '../../../shared/text-guards.ts'
import type { Needs } from '../../deps.ts'
import { listProviders } from '../../providers/list-providers.ts'
import type { FinishReason } from '../../providers/model-driver.ts'
import { chooseModel, chooseProvider, resolveProvider } from '../../providers/resolve-provider.ts'
import { readPromptConfig } from '../../templates/prompt-config.ts'
import { latitude, locate, type RunProgress, type RunWatch, type StepTotals } from '../events/run-progress.ts'
import type { EncodedResponse, StepResponse } from '../run.ts'
import { gatherTools, type ToolboxDeps } from '../tools/gather-tools.ts'
import type { ModelAnswer } from './call-model.ts'
import type { RunPlan, StepSetUp } from './run-plan.ts'

export type SetUpDeps = ToolboxDeps & Needs<'providers' | 'secrets' | 'clock' | 'logger'>

/** @throws RunError if the configuration, provider, model or a tool is invalid or missing. */
export async function setUpStep(
  deps: SetUpDeps,
  plan: RunPlan,
  own: Record<string, unknown>,
  signal: AbortSignal,
): Promise<StepSetUp> {
  const { callerSettings: given } = plan
  const written = given ? withDefaults(own, given.config).config : own
  const prompt = readPromptConfig(written, plan.path, [...deps.runs.serverTools.keys()])
  const entries = await listProviders(deps, plan.tools.workspaceId)
  const { environment } = deps.providers
  const entry = chooseProvider(entries, {
    path: plan.path,
    named: prompt.provider,
    projectDefault: plan.projectDefaults.provider,
    serverDefault: environment.defaultProvider,
  })
  const model = chooseModel(entry, {
    path: plan.path,
    named: prompt.model,
    projectDefault: plan.projectDefaults.model,
    serverDefault: environment.defaultModel,
  })
  const provider = resolveProvider(deps, entry)
  const gathered = await gatherTools(deps, plan.tools, prompt, signal)
  const config = { ...written, provider: provider.name, model }
  if (!given) return { prompt, provider, model, toolbox: gathered, config }
  const toolbox = new Map(gathered)
  for (const definition of given.tools) {
    const { name } = definition
    if (!toolbox.has(name)) toolbox.set(name, { source: 'client', definition, isAwaited: false })
  }
  const { toolChoice } = given
  const isChosen = toolChoice === undefined || withDefaults(written, { toolChoice }).ignored.length > 0
  const firstSettings = isChosen ? undefined : { ...prompt.settings, toolChoice }
  return { prompt, provider, model, toolbox, config, firstSettings }
}

interface StepEnd extends RunWatch {
  plan: RunPlan
  setUp: StepSetUp
  progress: RunProgress
  input: readonly Message[]
  step: StepTotals
  answer: ModelAnswer
  /** Calls of the caller's tools that end the run. */
  requests: ToolCall[]
}

/** @throws the errors of `structuredAnswer`. */
export async function respond(deps: Needs<'templates'>, end: StepEnd): Promise<EncodedResponse> {
  const { plan, setUp, progress, input, step, answer, requests, showEvents } = end
  const isObject = setUp.prompt.schema !== undefined && requests.length === 0
  const object = isObject ? await structuredAnswer(deps, end) : undefined
  const response: Omit<StepResponse, 'input' | 'output'> = {
    streamType: isObject ? 'object' : 'text',
    text: answer.text,
    ...(isObject && { object }),
    toolCalls: requests,
    ...(answer.reasoning !== '' && { reasoning: answer.reasoning }),
    usage: step.spending.tokenUsage,
    cost: step.spending.cost,
    model: setUp.model,
    provider: setUp.provider.kind,
    finishReason: requests.length > 0 ? 'tool-calls' : answer.finishReason,
  }
  const places = { input: locate(progress, input), output: locate(progress, step.output) }
  const encoded = progress.codec.encodeResponse({ ...response, ...places }, plan.tools.conversationUuid)
  progress.answer = encoded
  const { finishReason, usage: tokenUsage } = response
  showEvents([
    { provider: { type: 'finish', finishReason, usage: tokenUsage } },
    latitude(progress, { type: 'provider-completed', response: encoded, tokenUsage, finishReason }),
    latitude(progress, { type: 'step-completed' }),
  ])
  return encoded
}

/** The limit for a run, over all steps and agents. */
const maxModelCalls = 150

/** @throws RunError `max_step_count_exceeded_error` if the prompt or the run has no model call left. */
export function assertMayCall(progress: RunProgress, setUp: StepSetUp, callNumber: number): void {
  const { maxSteps } = setUp.prompt
  const limit =
    callNumber >= maxSteps ? maxSteps : progress.facts.modelCalls >= maxModelCalls ? maxModelCalls : undefined
  if (limit === undefined) return
  throw new RunError('max_step_count_exceeded_error', `The run reached its limit of ${limit} model calls`, {
    details: { maxSteps: limit },
  })
}

interface StructuredStep extends Pick<RunWatch, 'signal'> {
  setUp: StepSetUp
  plan: RunPlan
  answer: Pick<ModelAnswer, 'text' | 'finishReason'>
}

/**
 * @throws RunError `invalid_response_format_error` for text that is not JSON, and for a value that does not match the
 * schema or cannot be checked.
 */
async function structuredAnswer(deps: Needs<'templates'>, step: StructuredStep): Promise<unknown> {
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
