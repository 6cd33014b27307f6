import { ApiPromise, type Outcome } from '../api-promise.ts'
import { StetError } from '../errors.ts'
import type { AttachOptions, RequestOptions, Scope, StreamCallbacks, StreamControls } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import type { Api } from '../transport/api.ts'
import { observe } from '../transport/request.ts'
import type { Message, RunResult } from '../types.ts'
import { RunStream } from './run-stream.ts'

const JSON_RUN_TIMEOUT_MS = 600_000
const STOP_TIMEOUT_MS = 5000

type StartOptions<O extends OutputKind> = Scope &
  RequestOptions &
  StreamCallbacks<O> &
  StreamControls & { stream?: boolean; background?: boolean }

/** A run to start: its route, what it sends beside its options, and the caller's options. */
export interface RunStart<O extends OutputKind> {
  operation: 'prompts.run' | 'conversations.chat' | 'runs.attach'
  fields: { path: string } | { conversationUuid: string } | { conversationUuid: string; messages: Message[] }
  options: StartOptions<O>
  path?: string
}

/** Starts a run and gives its stream at once. */
export function streamRun<O extends OutputKind>(
  api: Api,
  { operation, fields, options, path }: RunStart<O>,
): RunStream<O> {
  const { idleTimeout, bufferEvents, onAbort, onEvent, onText, onToolCall, onFinished, onError, ...sent } = options
  const { streaming, logger, hooks } = api.settings
  const stream = new RunStream<O>({
    async open(signal) {
      const own = { ...sent, signal }
      if (!options.background) return api.open(operation, { ...fields, stream: true }, own)
      // the stream of a background run is one that joined it: the run does not depend on its reader
      const { data } = await api.answer<{ uuid: string }>(operation, fields, own)
      return api.open('runs.attach', { conversationUuid: data.uuid, stream: true }, requestOnly(own))
    },
    stop: (conversationUuid) => api.call('runs.stop', { conversationUuid }, { timeout: STOP_TIMEOUT_MS }),
    onAbort,
    signal: options.signal,
    idleTimeout: idleTimeout ?? streaming?.idleTimeout,
    bufferEvents: bufferEvents ?? streaming?.bufferEvents,
    logger,
    hooks,
    path,
  })
  if (onEvent) stream.on('event', onEvent)
  if (onText) stream.on('text', onText)
  if (onToolCall) stream.on('toolCall', onToolCall)
  if (onFinished) stream.on('finished', onFinished)
  if (onError) stream.on('error', onError)
  return stream
}

function requestOnly({ signal, timeout, maxRetries, headers }: RequestOptions): RequestOptions {
  return {
    ...(signal && { signal }),
    ...(timeout !== undefined && { timeout }),
    ...(maxRetries !== undefined && { maxRetries }),
    ...(headers && { headers }),
  }
}

/** Joins the latest run of a conversation. */
export function attachStart<O extends OutputKind>(conversationUuid: string, o: AttachOptions<O>): RunStart<O> {
  const { lastEventId, ...options } = o
  const headers = lastEventId === undefined ? {} : { headers: { 'Last-Event-ID': lastEventId, ...o.headers } }
  return { operation: 'runs.attach', fields: { conversationUuid }, options: { ...options, ...headers } }
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

async function jsonOutcome<O extends OutputKind>(
  api: Api,
  { operation, fields, options }: RunStart<O>,
): Promise<Outcome<RunResult<O>>> {
  const { idleTimeout, bufferEvents, onAbort, onFinished, onError, ...sent } = options
  try {
    const outcome = await api.answer<RunResult<O>>(operation, { ...fields, stream: false }, sent, JSON_RUN_TIMEOUT_MS)
    onFinished?.(outcome.data)
    return outcome
  } catch (error) {
    if (StetError.isInstance(error)) observe(api.settings, () => onError?.(error))
    throw error
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
