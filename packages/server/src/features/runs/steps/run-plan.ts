import type { Message } from '@stet/contract/vocabulary'
import type { PromptConfig } from '@stet/template/config'
import { AppError, RunError } from '../../../shared/app-error.ts'
import type { Span, SpanAttributes } from '../../../shared/telemetry.ts'
import type { Needs } from '../../deps.ts'
import type { ResolvedProvider } from '../../providers/ports.ts'
import { type HeldFiles, heldFiles } from '../../templates/held-files.ts'
import type { EvaluationOwner, TemplateStep } from '../../templates/template-engine.ts'
import type { EndedRun, NewConversation } from '../ports.ts'
import type { PromptInput, PromptSteps, QueuedChat, QueuedInput, ToolScope } from '../run.ts'
import { cannedCalls, type Toolbox } from '../tools/tool.ts'

interface RenderedSteps {
  prompt: PromptSteps
  now: string
  rendered: number
  /** The template engine's state between two steps. */
  state: unknown
  held: HeldFiles | undefined
  /** The first step, if it was rendered before the run was stored. */
  ahead: Promise<TemplateStep> | undefined
}

interface ChatStep {
  conversation: readonly Message[]
  config: Record<string, unknown>
}

/** Each instance serves one run. */
export interface RunPlan
  extends Pick<PromptInput, 'apiKeyId' | 'projectDefaults' | 'omitsToolsRequested' | 'callerSettings' | 'version'> {
  path: string
  tools: ToolScope
  /** The number of messages that the caller gave. They follow all others. */
  given: number
  steps: RenderedSteps | ChatStep
  /** True if providers send streams. False if providers send plain responses. */
  stream: boolean
}

/** The set-up of one step, before its first model call. */
export interface StepSetUp {
  prompt: PromptConfig
  provider: ResolvedProvider
  model: string
  toolbox: Toolbox
  /** The settings of the run's first model call, if the caller's tool choice applies to it. */
  firstSettings?: PromptConfig['settings'] | undefined
  /** The configuration that `provider-started` shows. */
  config: Record<string, unknown>
}

/** Without `stream`, providers send plain responses and no tool call waits for the caller. */
export function planOf(
  deps: Needs<'clock'>,
  input: PromptInput,
  { runUuid, stream }: { runUuid: string; stream: boolean },
): RunPlan {
  const { apiKeyId, source, projectDefaults, omitsToolsRequested, callerSettings, version, canned } = input
  return {
    apiKeyId,
    path: source.path,
    version,
    // In JSON mode, the caller cannot post results during the run, so its tool calls end the run.
    tools: {
      ...input.tools,
      runUuid,
      awaited: stream ? input.tools.awaited : [],
      ...(canned && { canned: cannedCalls(canned) }),
    },
    projectDefaults,
    given: input.messages.length,
    steps: renderedSteps(deps, input),
    stream,
    omitsToolsRequested,
    callerSettings,
  }
}

/** @param messages those of the whole conversation, the caller's new ones included. */
export function chatPlanOf(
  { path, config }: Pick<NewConversation, 'path' | 'config'>,
  messages: readonly Message[],
  { apiKeyId, version, tools, given, omitsToolsRequested, callerSettings }: QueuedChat,
  { runUuid, stream }: { runUuid: string; stream: boolean },
): RunPlan {
  return {
    ...{ apiKeyId, path, version, given, stream, omitsToolsRequested, callerSettings },
    tools: { ...tools, runUuid },
    projectDefaults: { provider: null, model: null },
    steps: { conversation: messages, config },
  }
}

export const isQueuedChat = (input: QueuedInput): input is QueuedChat => 'given' in input

/**
 * Returns the attributes that name a prompt on the spans of its runs, renderings and model calls. OpenTelemetry's
 * `gen_ai.prompt.version` is the published number, or a draft's uuid. It is never `live`, which would name changing texts.
 */
export function promptAttributes({ path, version }: Pick<RunPlan, 'path' | 'version'>): SpanAttributes {
  const { uuid, number, contentHash } = version
  return {
    'gen_ai.prompt.name': path,
    'gen_ai.prompt.version': number === null ? uuid : String(number),
    'stet.prompt.path': path,
    'stet.prompt.content_hash': contentHash,
    'stet.version.uuid': uuid,
  }
}

export function runAttributes(plan: RunPlan, mode: EndedRun['mode']): SpanAttributes {
  const { runUuid, conversationUuid, workspaceId, projectId } = plan.tools
  return {
    'stet.run.mode': mode,
    'stet.run.uuid': runUuid ?? undefined,
    'gen_ai.conversation.id': conversationUuid,
    'stet.workspace.id': workspaceId,
    'stet.project.id': projectId,
    ...promptAttributes(plan),
  }
}

/** OpenTelemetry limits the attributes of a span, and the end of a run sets some more. */
const maxVariables = 64

/** The parameters of a run as texts. They are content. */
export function variableAttributes({ steps }: RunPlan): SpanAttributes {
  const parameters = 'prompt' in steps ? Object.entries(steps.prompt.parameters).slice(0, maxVariables) : []
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.fromEntries(parameters.map(([name, value]) => [`gen_ai.prompt.variable.${name}`, textOf(value)]))
}

export function renderedSteps(deps: Needs<'clock'>, prompt: PromptSteps): RenderedSteps {
  const now = deps.clock.now().toISOString()
  return { prompt, now, rendered: 0, state: undefined, held: undefined, ahead: undefined }
}

/** @param answer the output messages of the previous step; undefined for the first step. */
export async function nextStep(
  deps: Needs<'templates'>,
  plan: RunPlan,
  answer: Message[] | undefined,
  { span: parent, ...asker }: Pick<EvaluationOwner, 'signal' | 'isRun'> & { span?: Span | undefined },
): Promise<TemplateStep> {
  const { steps } = plan
  if ('conversation' in steps) {
    if (answer) return { done: true, added: [] }
    return { done: false, input: [...steps.conversation], added: [], config: steps.config, state: undefined }
  }
  const { prompt, ahead, now } = steps
  if (ahead) {
    steps.ahead = undefined
    return ahead
  }
  const isFirst = steps.rendered === 0
  // A prompt without steps is rendered only once.
  if (!isFirst && !prompt.usesSteps) return { done: true, added: [] }
  const { source, parameters, workspaceId, apiKeyId, overrides } = prompt
  if (answer) steps.held ??= heldFiles()
  const span = parent?.child('render template', { ...promptAttributes(plan), 'stet.step': steps.rendered + 1 })
  span?.setContent(() => ({ 'stet.prompt.parameters': JSON.stringify(parameters) }))
  const rendering = deps.templates.step(
    {
      source,
      parameters,
      now,
      ...(!isFirst && { state: steps.state }),
      ...(overrides && { overrides }),
      ...(answer && steps.held && { answer: steps.held.hide(answer) }),
    },
    { workspaceId, apiKeyId, ...asker },
  )
  if (span) endWith(span, rendering)
  const step = await rendering
  steps.rendered += 1
  if (!step.done) steps.state = step.state
  if (!isFirst) {
    const { held } = steps
    if (!held) return step
    if (step.done) return { done: true, added: held.show(step.added) }
    // The input includes the added messages. If the input is too large, this `show` throws before anything is built.
    return { ...step, input: held.show(step.input), added: held.show(step.added) }
  }
  const compiled = step.done ? { input: step.added, config: prompt.config, state: undefined } : step
  const input = [...compiled.input, ...prompt.messages]
  if (input.length === 0) throw new RunError('unknown_error', 'The prompt produced no messages')
  return { ...compiled, done: false, input, added: [...step.added, ...prompt.messages] }
}

/**
 * Renders the first step before the run is stored, so that an overloaded server can refuse the run with 503.
 * @throws AppError ServiceUnavailableError. Every other failure becomes a run error later.
 */
export async function renderAhead(
  deps: Needs<'templates'>,
  plan: RunPlan,
  { signal, span }: { signal?: AbortSignal | undefined; span?: Span | undefined },
): Promise<void> {
  const first = nextStep(deps, plan, undefined, { signal, span, isRun: false })
  await first.catch((error: unknown) => {
    if (error instanceof AppError) throw error
  })
  if ('prompt' in plan.steps) plan.steps.ahead = first
}

function endWith(span: Span, rendering: Promise<TemplateStep>): void {
  rendering.then(
    () => span.end(),
    (error: unknown) => span.end(error instanceof RunError ? error.code : 'refused'),
  )
}
