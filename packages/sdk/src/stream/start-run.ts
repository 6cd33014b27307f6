import { ApiPromise, type Outcome } from '../api-promise.ts'
import { ConfigurationError, StetError } from '../errors.ts'
import type { AttachOptions, RequestOptions, Scope, StreamCallbacks, StreamControls } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import { ToolLoop, type ToolPlan } from '../tools/tool-loop.ts'
import type { Api } from '../transport/api.ts'
import { observe } from '../transport/request.ts'
import type { Message, RunResult } from '../types.ts'
import { sumOf } from './result.ts'
import { RunStream } from './run-stream.ts'

const JSON_RUN_TIMEOUT_MS = 600_000
const STOP_TIMEOUT_MS = 5000
const MAX_TOOL_ROUNDS = 10
// a run waits for a result: sending it outlasts what the stream itself would
const RESULT_RETRIES = 5

type StartOptions<O extends OutputKind> = Scope &
  RequestOptions &
  StreamCallbacks<O> &
  StreamControls & {
    stream?: boolean
    background?: boolean
    mcpHeaders?: Record<string, Record<string, string>>
  }

/** A run to start: its route, what it sends beside its options, and the caller's options. */
export interface RunStart<O extends OutputKind> {
  operation: 'prompts.run' | 'conversations.chat' | 'runs.attach'
  fields: { path: string } | { conversationUuid: string } | { conversationUuid: string; messages: Message[] }
  options: StartOptions<O>
  path?: string
  /** The event that an attach begins after. */
  lastEventId?: string | undefined
}

/** Starts a run and gives its stream at once. */
export function streamRun<O extends OutputKind>(api: Api, start: RunStart<O>): RunStream<O> {
  const { operation, fields, options, path } = start
  const { settings } = api
  const { streaming, logger, hooks, runtime } = settings
  const tools = toolPlan(api, start)
  const request = requestOnly(options)
  let rounds = 0
  const attach = (conversationUuid: string, lastEventId: string | undefined, signal: AbortSignal) => {
    const headers = { ...request.headers, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) }
    // it has its own attempts, which begin anew with every event
    const once = { ...request, headers, signal, maxRetries: 0 }
    return api.open('runs.attach', { conversationUuid, stream: true }, once)
  }
  const stream = new RunStream<O>({
    async open(signal, onUuid) {
      const sent = { ...sentOptions(start), signal }
      if (!options.background) return api.open(operation, { ...fields, ...named(tools), stream: true }, sent)
      if (options.tools) throw noToolsInBackground()
      // the stream of a background run is one that joined it: the run does not depend on its reader
      const { data } = await api.answer<{ uuid: string }>(operation, fields, sent)
      onUuid(data.uuid)
      return attach(data.uuid, undefined, signal)
    },
    attach,
    chat(conversationUuid, messages, signal) {
      const round = { ...roundOptions(options, ++rounds), signal }
      return api.open('conversations.chat', { conversationUuid, messages, stream: true }, round)
    },
    stop: (conversationUuid) => stopRun(api, conversationUuid),
    tools,
    resume: options.resume ?? streaming?.resume,
    onAbort: options.onAbort,
    signal: options.signal,
    lastEventId: start.lastEventId,
    idleTimeout: options.idleTimeout ?? streaming?.idleTimeout,
    bufferEvents: options.bufferEvents ?? streaming?.bufferEvents,
    logger,
    hooks,
    runtime,
    path,
  })
  const { onEvent, onText, onToolCall, onFinished, onError } = options
  if (onEvent) stream.on('event', onEvent)
  if (onText) stream.on('text', onText)
  if (onToolCall) stream.on('toolCall', onToolCall)
  if (onFinished) stream.on('finished', onFinished)
  if (onError) stream.on('error', onError)
  return stream
}

function stopRun(api: Api, conversationUuid: string): PromiseLike<unknown> {
  return api.call('runs.stop', { conversationUuid }, { timeout: STOP_TIMEOUT_MS })
}

function toolPlan<O extends OutputKind>(api: Api, { operation, options }: RunStart<O>): ToolPlan | undefined {
  const { tools, toolMode, maxToolRounds } = options
  const { streaming, runtime, maxRetries } = api.settings
  // what a joined run waits for belongs to the process that started it
  const isInline = toolMode !== 'turns' && options.stream !== false && operation !== 'runs.attach'
  return (
    tools && {
      tools,
      mode: isInline ? 'inline' : 'turns',
      maxRounds: maxToolRounds ?? streaming?.maxToolRounds ?? MAX_TOOL_ROUNDS,
      post: (answer) => api.call('runs.toolResult', answer, { maxRetries: Math.max(maxRetries, RESULT_RETRIES) }),
      stop: (conversationUuid) => stopRun(api, conversationUuid),
      now: runtime.now,
    }
  )
}

/** The names that the run shall wait for. */
function named(plan: ToolPlan | undefined): { tools?: string[] } {
  if (plan?.mode !== 'inline') return {}
  return { tools: Object.keys(plan.tools).filter((name) => plan.tools[name]) }
}

/** For tools with a run that nobody waits for. */
export function noToolsInBackground(): ConfigurationError {
  return new ConfigurationError('A background run takes no tools: give them to job.attach({ tools })')
}

/** The options that travel, and those of the request. */
export function sentOptions<O extends OutputKind>({ options, lastEventId }: RunStart<O>): RequestOptions {
  const { tools, toolMode, maxToolRounds, resume, idleTimeout, bufferEvents, onAbort, ...others } = options
  const { onEvent, onText, onToolCall, onFinished, onError, ...sent } = others
  return lastEventId === undefined ? sent : { ...sent, headers: { 'Last-Event-ID': lastEventId, ...sent.headers } }
}

function requestOnly({ signal, timeout, maxRetries, headers }: RequestOptions): RequestOptions {
  return {
    ...(signal && { signal }),
    ...(timeout !== undefined && { timeout }),
    ...(maxRetries !== undefined && { maxRetries }),
    ...(headers && { headers }),
  }
}

/** The options of a chat that answers tools. A caller's own key goes on by number: one key stands for one body. */
function roundOptions<O extends OutputKind>(options: StartOptions<O>, round: number): RequestOptions {
  const { mcpHeaders, idempotencyKey } = options
  return {
    ...requestOnly(options),
    ...(mcpHeaders && { mcpHeaders }),
    ...(idempotencyKey !== undefined && { idempotencyKey: `${idempotencyKey}-tools-${round}` }),
  }
}

/** Joins the latest run of a conversation. */
export function attachStart<O extends OutputKind>(conversationUuid: string, o: AttachOptions<O>): RunStart<O> {
  const { lastEventId, ...options } = o
  return { operation: 'runs.attach', fields: { conversationUuid }, options, lastEventId }
}

/** Starts a run and resolves to its result, over either transport. */
export function awaitRun<O extends OutputKind>(api: Api, start: RunStart<O>): ApiPromise<RunResult<O>> {
  const isStreamed = start.options.stream !== false
  const outcome = isStreamed ? streamedOutcome(streamRun(api, start)) : jsonOutcome(api, start)
  return new ApiPromise(outcome.then(refuseIteration), isStreamed)
}

async function streamedOutcome<O extends OutputKind>(stream: RunStream<O>): Promise<Outcome<RunResult<O>>> {
  const [data, { response }] = await Promise.all([stream.finalResult(), stream.withResponse()])
  return { data, response }
}

async function jsonOutcome<O extends OutputKind>(api: Api, start: RunStart<O>): Promise<Outcome<RunResult<O>>> {
  const { operation, fields, options } = start
  try {
    const sent = sentOptions(start)
    const first = await api.answer<RunResult<O>>(operation, { ...fields, stream: false }, sent, JSON_RUN_TIMEOUT_MS)
    const outcome = await answerTools(api, start, first)
    options.onFinished?.(outcome.data)
    return outcome
  } catch (error) {
    if (StetError.isInstance(error)) observe(api.settings, () => options.onError?.(error))
    throw error
  }
}

async function answerTools<O extends OutputKind>(
  api: Api,
  start: RunStart<O>,
  first: Outcome<RunResult<O>>,
): Promise<Outcome<RunResult<O>>> {
  const { options } = start
  const plan = toolPlan(api, start)
  let outcome = first
  if (!plan) return outcome
  const { signal = new AbortController().signal, onToolCall } = options
  const scene = () => ({ conversationUuid: outcome.data.uuid, messages: outcome.data.conversation, signal })
  const loop = new ToolLoop(plan, { scene, tell() {} })
  for (let round = 1; ; round++) {
    const { uuid: conversationUuid, toolRequests } = outcome.data
    for (const call of toolRequests) onToolCall?.(call)
    const message = loop.goesOn(toolRequests) ? await loop.answerAll(toolRequests) : undefined
    if (!message) return outcome
    const chat = { conversationUuid, messages: [message], stream: false }
    const next = await api.answer<RunResult<O>>(
      'conversations.chat',
      chat,
      roundOptions(options, round),
      JSON_RUN_TIMEOUT_MS,
    )
    outcome = { ...next, data: { ...next.data, ...sumOf([outcome.data, next.data]) } }
  }
}

/** In plain JavaScript `for await (… of await run())` would otherwise fail with a message that explains nothing. */
function refuseIteration<T extends Outcome<object>>(outcome: T): T {
  Object.defineProperty(outcome.data, Symbol.asyncIterator, {
    value: () => {
      throw new TypeError('run() was awaited; use prompts.stream()')
    },
  })
  return outcome
}
