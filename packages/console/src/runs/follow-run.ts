/** A run as the run pane shows it, made from the run's events. Pure: the caller passes the time. */
import type { LatitudeEventData, ProviderEventData, SdkEventData, StreamEvent, Usage } from '@stet/sdk'

/** A run is `queued` if it is active on the server, but this tab has no free stream to follow it. */
export type RunPhase =
  | 'saving'
  | 'waiting'
  | 'queued'
  | 'streaming'
  | 'reconnecting'
  | 'completed'
  | 'stopped'
  | 'failed'

export interface TextPart {
  kind: 'text' | 'reasoning'
  key: string
  text: string
}

export interface ToolPart {
  kind: 'tool'
  /** The id of the call. */
  key: string
  name: string
  /** Null while the model still writes the arguments. */
  args: Record<string, unknown> | null
  /** `waiting` for a result from this page, `running` on the server. `open` if the run ended without a result. */
  state: 'written' | 'waiting' | 'running' | 'answered' | 'failed' | 'open'
  source: 'client' | 'agentAsTool' | 'serverTool' | null
  result: unknown
}

export interface FilePart {
  kind: 'file'
  key: string
  url: string
  mimeType: string
}

export type OutputPart = TextPart | ToolPart | FilePart

export interface StepView {
  number: number
  provider: string | null
  model: string | null
  parts: readonly OutputPart[]
  usage: Usage | null
  finishReason: string | null
}

/** Why a run failed, or could not start. */
export interface RunTrouble {
  message: string
  /** The run code, or the error code of a refused request. Empty if the server did not answer. */
  code: string
  /** The prompt and line that the failure is about. */
  at: { path: string; line: number; column: number; frame: string } | null
  /** The model provider's error, in its own words. */
  provider: { name: string; status: number | null; words: string } | null
  /** Names of inputs that the prompt requires. */
  missing: readonly string[]
  invalid: readonly { name: string; expected: string }[]
  requestId: string | null
  /** The connection was lost, and the run may still be active. */
  isLost: boolean
}

export interface RunView {
  phase: RunPhase
  isStopping: boolean
  /** The events are read again, so the time of the first one says nothing about the first token. */
  isReread: boolean
  conversationUuid: string | null
  /** In milliseconds of `performance.now()`. */
  startedAt: number
  firstTokenMs: number | null
  /** Null until the run has ended. It is there from the start if an ended run is read again. */
  durationMs: number | null
  steps: readonly StepView[]
  usage: Usage | null
  /** In US dollars. 0 if unknown. */
  cost: number | null
  /** The result as the API returns it, without the conversation. */
  result: object | null
  /** The answer's value, for prompts with a schema. */
  object: { value: unknown } | null
  trouble: RunTrouble | null
  /** How many times the client has tried to resume the stream since the last event. */
  attempt: number
}

export function startedRun(now: number): RunView {
  return {
    phase: 'saving',
    isStopping: false,
    isReread: false,
    conversationUuid: null,
    startedAt: now,
    firstTokenMs: null,
    durationMs: null,
    steps: [],
    usage: null,
    cost: null,
    result: null,
    object: null,
    trouble: null,
    attempt: 0,
  }
}

export function isActive({ phase }: RunView): boolean {
  return phase !== 'completed' && phase !== 'stopped' && phase !== 'failed'
}

/** The text of the answers of all steps, without reasoning. */
export function answerText(view: RunView): string {
  return view.steps
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    .join('\n\n')
}

/** Applies one event that arrived at `now`. Events after the end change nothing. */
export function followEvent(view: RunView, event: StreamEvent | SdkEvent, now: number): RunView {
  if (!isActive(view)) return view
  if (event.event === 'sdk') return followConnection(view, event.data)
  const running: RunView = { ...view, phase: reached(view), attempt: 0 }
  if (event.event === 'provider-event') return followModel(running, event.data, now)
  return followChain({ ...running, conversationUuid: event.data.uuid }, event.data, now)
}

export interface SdkEvent {
  event: 'sdk'
  data: SdkEventData
}

/** Ends the view with an error that is not an event: a refused request, or a lost connection. */
export function failRun(view: RunView, trouble: RunTrouble, now: number): RunView {
  return isActive(view) ? ended({ ...view, trouble }, 'failed', now) : view
}

/** Ends the view where the user stopped it, when no final event can be expected. */
export function stopRun(view: RunView, now: number): RunView {
  return isActive(view) ? ended(view, 'stopped', now) : view
}

/** The stream of the run is open. */
export function joinRun(view: RunView, conversationUuid: string): RunView {
  const isBack = view.phase === 'reconnecting' || view.phase === 'queued'
  return { ...view, conversationUuid, phase: isBack ? reached(view) : view.phase }
}

/** The run is followed as soon as another stream of this tab ends. */
export function queueRun(view: RunView): RunView {
  return { ...view, phase: 'queued' }
}

/** Continues a view that a lost connection has ended. The calls without a result are open again. */
export function reopenRun(view: RunView): RunView {
  const reopen = (part: OutputPart): OutputPart => {
    if (part.kind !== 'tool' || part.state !== 'open') return part
    return { ...part, state: !part.args ? 'written' : part.source === 'client' ? 'waiting' : 'running' }
  }
  return { ...view, phase: 'reconnecting', trouble: null, durationMs: null, steps: partsChanged(view, reopen) }
}

function followConnection(view: RunView, data: SdkEventData): RunView {
  if (data.type === 'reconnecting') return { ...view, phase: 'reconnecting', attempt: data.attempt }
  if (data.type !== 'reconnected') return view
  return { ...view, phase: reached(view) }
}

function reached({ steps }: RunView): RunPhase {
  return steps.some(({ parts }) => parts.length > 0) ? 'streaming' : 'waiting'
}

function followChain(view: RunView, data: LatitudeEventData, now: number): RunView {
  switch (data.type) {
    case 'step-started':
      return { ...view, steps: [...view.steps, newStep(view.steps.length + 1)] }
    case 'provider-started':
      return inStep(view, (step) => ({
        ...step,
        provider: wordOr(data.config['provider'], step.provider),
        model: wordOr(data.config['model'], step.model),
      }))
    case 'provider-completed': {
      const { response } = data
      const completed = inStep(view, (step) => ({
        ...step,
        model: response.model || step.model,
        usage: data.tokenUsage,
        finishReason: data.finishReason,
        // Without deltas, for example after the event log expired, the response has the only copy of the text.
        parts:
          response.text && !step.parts.some(({ kind }) => kind === 'text')
            ? [...step.parts, { kind: 'text', key: 'response', text: response.text }]
            : step.parts,
      }))
      return response.streamType === 'object' ? { ...completed, object: { value: response.object } } : completed
    }
    case 'chain-completed':
    case 'chain-error': {
      const { type, messages, providerLogUuid, timestamp, ...result } = data
      const spent = { ...view, usage: data.tokenUsage, cost: data.cost, result }
      if (data.type === 'chain-completed') return ended(spent, 'completed', now)
      const { message, errorCode, code, details } = data.error
      const runCode = String(code ?? errorCode ?? 'unknown_error')
      const isByUser = runCode === 'abort_error' && details?.['reason'] !== 'disconnect'
      if (isByUser) return ended(spent, 'stopped', now)
      return ended({ ...spent, trouble: troubleOf(String(message), runCode, details) }, 'failed', now)
    }
    default:
      return view
  }
}

function followModel(view: RunView, data: ProviderEventData, now: number): RunView {
  switch (data.type) {
    case 'text-delta':
      return withText(begun(view, now), 'text', data.id, data.textDelta)
    case 'reasoning-delta':
      return withText(begun(view, now), 'reasoning', data.id, data.text)
    case 'tool-input-start':
      return withTool(begun(view, now), data.id, data.toolName, (tool) => tool)
    case 'tool-call': {
      const { source } = data._sourceData
      return withTool(begun(view, now), data.toolCallId, data.toolName, (tool) => ({
        ...tool,
        args: data.args,
        source,
        state: source === 'client' ? 'waiting' : 'running',
      }))
    }
    case 'tool-result':
    case 'tool-error': {
      const [result, hasFailed] = data.type === 'tool-error' ? [data.error, true] : [data.result, data.isError]
      return withTool(view, data.toolCallId, data.toolName, (tool) => ({
        ...tool,
        args: data.args,
        state: hasFailed ? 'failed' : 'answered',
        result,
      }))
    }
    case 'file':
      return inStep(begun(view, now), (step) => {
        const file = { kind: 'file' as const, key: `file-${step.parts.length}`, url: data.url, mimeType: data.mimeType }
        return { ...step, parts: [...step.parts, file] }
      })
    default:
      return view
  }
}

/** The first output has arrived. */
function begun(view: RunView, now: number): RunView {
  const firstTokenMs = view.firstTokenMs ?? (view.isReread ? null : now - view.startedAt)
  return { ...view, phase: 'streaming', firstTokenMs }
}

function withText(view: RunView, kind: 'text' | 'reasoning', id: string, delta: string): RunView {
  return inStep(view, (step) => {
    const last = step.parts.at(-1)
    if (last?.kind === kind)
      return { ...step, parts: [...step.parts.slice(0, -1), { ...last, text: last.text + delta }] }
    return { ...step, parts: [...step.parts, { kind, key: `${id}-${step.parts.length}`, text: delta }] }
  })
}

function withTool(view: RunView, key: string, name: string, change: (tool: ToolPart) => ToolPart): RunView {
  const fresh: ToolPart = {
    kind: 'tool',
    key,
    name,
    args: null,
    state: 'written',
    source: null,
    result: undefined,
  }
  return inStep(view, (step) => {
    const isKnown = step.parts.some((part) => part.kind === 'tool' && part.key === key)
    const parts: readonly OutputPart[] = isKnown ? step.parts : [...step.parts, fresh]
    return { ...step, parts: parts.map((part) => (part.kind === 'tool' && part.key === key ? change(part) : part)) }
  })
}

function newStep(number: number): StepView {
  return { number, provider: null, model: null, parts: [], usage: null, finishReason: null }
}

/** Changes the last step. A stream that was joined late may begin inside a step. */
function inStep(view: RunView, change: (step: StepView) => StepView): RunView {
  const step = view.steps.at(-1) ?? newStep(1)
  return { ...view, steps: [...view.steps.slice(0, -1), change(step)] }
}

function ended(view: RunView, phase: 'completed' | 'stopped' | 'failed', now: number): RunView {
  const close = (part: OutputPart): OutputPart =>
    part.kind === 'tool' && ['written', 'waiting', 'running'].includes(part.state) ? { ...part, state: 'open' } : part
  return {
    ...view,
    phase,
    isStopping: false,
    durationMs: view.durationMs ?? now - view.startedAt,
    steps: partsChanged(view, close),
  }
}

function partsChanged({ steps }: RunView, change: (part: OutputPart) => OutputPart): StepView[] {
  return steps.map((step) => ({ ...step, parts: step.parts.map(change) }))
}

/** Reads the details of a run's error, or of a refused request. They come from the server and are not validated. */
export function troubleOf(message: string, code: string, given: unknown, requestId: string | null = null): RunTrouble {
  const details = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {}
  const { line, column, path, frame, provider, providerMessage, status, missing, invalid } = details
  return {
    message,
    code,
    at:
      typeof line === 'number'
        ? {
            path: String(path ?? ''),
            line,
            column: typeof column === 'number' ? column : 1,
            frame: typeof frame === 'string' ? frame : '',
          }
        : null,
    provider:
      typeof providerMessage === 'string' && providerMessage
        ? {
            name: String(provider ?? ''),
            status: typeof status === 'number' ? status : null,
            words: providerMessage,
          }
        : null,
    missing: Array.isArray(missing) ? missing.map(String) : [],
    invalid: Array.isArray(invalid) ? invalid : [],
    requestId,
    isLost: false,
  }
}

function wordOr(value: unknown, otherwise: string | null): string | null {
  return typeof value === 'string' && value ? value : otherwise
}
