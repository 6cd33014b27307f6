import { ApiPromise, type Outcome } from '../api-promise.ts'
import { ConfigurationError, StetError } from '../errors.ts'
import type { AttachOptions, RequestOptions, Scope, StreamCallbacks, StreamControls } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import type { Api } from '../transport/api.ts'
import { observe } from '../transport/request.ts'
import type { Message, RunResult } from '../types.ts'
import { RunStream } from './run-stream.ts'

/** How long a run without a stream may take. */
export const JSON_RUN_TIMEOUT_MS = 600_000
const STOP_TIMEOUT_MS = 5000

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
  const tools = inlineTools(start)
  const request = requestOnly(options)
  const attach = (conversationUuid: string, lastEventId: string | undefined, signal: AbortSignal) => {
    const headers = { ...request.headers, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) }
    // it has its own attempts, which begin anew with every event
    const once = { ...request, headers, signal, maxRetries: 0 }
    return api.open('runs.attach', { conversationUuid, stream: true }, once)
  }
  const stream = new RunStream<O>({
    async open(signal, onUuid) {
      const sent = { ...sentOptions(start), signal }
      if (!options.background) return api.open(operation, { ...fields, ...(tools && { tools }), stream: true }, sent)
      if (options.tools) throw noToolsInBackground()
      // the stream of a background run is one that joined it: the run does not depend on its reader
      const { data } = await api.answer<{ uuid: string }>(operation, fields, sent)
      onUuid(data.uuid)
      return attach(data.uuid, undefined, signal)
    },
    attach,
    stop: (conversationUuid) => stopRun(api, conversationUuid),
    tools:
      options.tools &&
      (async (host) => {
        const { ToolLoop } = await import('../tools/tool-loop.ts')
        return new ToolLoop(api, start, host)
      }),
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
  const named = { event: onEvent, text: onText, toolCall: onToolCall, finished: onFinished, error: onError }
  for (const [name, listener] of Object.entries(named)) if (listener) stream.on(name as 'event', listener as never)
  return stream
}

/** Stops a run, without waiting long. */
export function stopRun(api: Api, conversationUuid: string): PromiseLike<unknown> {
  return api.call('runs.stop', { conversationUuid }, { timeout: STOP_TIMEOUT_MS })
}

/** The names of the tools that the run shall wait for; undefined when it shall end with its calls. */
export function inlineTools<O extends OutputKind>({ operation, options }: RunStart<O>): string[] | undefined {
  const { tools, toolMode, stream } = options
  // what a joined run waits for belongs to the process that started it
  if (!tools || toolMode === 'turns' || stream === false || operation === 'runs.attach') return undefined
  return Object.keys(tools).filter((name) => tools[name])
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

/** The options of the request itself, for further ones of the same run. */
export function requestOnly({ signal, timeout, maxRetries, headers }: RequestOptions): RequestOptions {
  // an option that is undefined counts as absent
  return { signal, timeout, maxRetries, headers } as RequestOptions
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
    const outcome = options.tools ? await answerTools(api, start, first) : first
    options.onFinished?.(outcome.data)
    return outcome
  } catch (error) {
    if (StetError.isInstance(error)) observe(api.settings, () => options.onError?.(error))
    throw error
  }
}

async function answerTools<O extends OutputKind>(api: Api, start: RunStart<O>, first: Outcome<RunResult<O>>) {
  const { answerJsonTurns } = await import('../tools/json-turns.ts')
  return answerJsonTurns(api, start, first)
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
