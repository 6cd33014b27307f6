import { ConfigurationError } from '../errors.ts'
import type { AttachOptions, RequestOptions, Scope, StreamCallbacks, StreamControls } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import type { Api } from '../transport/api.ts'
import type { Message } from '../types.ts'

const STOP_TIMEOUT_MS = 5000

type StartOptions<O extends OutputKind> = Scope &
  RequestOptions &
  StreamCallbacks<O> &
  StreamControls & {
    stream?: boolean
    background?: boolean
    mcpHeaders?: Record<string, Record<string, string>>
  }

/** A run to start: its operation, its fields and the caller's options. */
export interface RunStart<O extends OutputKind> {
  operation: 'prompts.run' | 'conversations.chat' | 'runs.attach'
  fields: { path: string } | { conversationUuid: string } | { conversationUuid: string; messages: Message[] }
  options: StartOptions<O>
  path?: string
  /** An attach starts after this event. */
  lastEventId?: string | undefined
}

/** Stops a run with a short timeout. Sends the headers of the call, because a gateway may require them. */
export function stopRun(
  api: Api,
  conversationUuid: string,
  { options: { headers = {} } }: { options: RequestOptions },
): PromiseLike<unknown> {
  return api.call('runs.stop', { conversationUuid }, { timeout: STOP_TIMEOUT_MS, headers })
}

/** The tools for which the run must wait; undefined if it should end with its calls. */
export function inlineTools<O extends OutputKind>({ operation, options }: RunStart<O>): string[] | undefined {
  const { tools, toolMode, stream } = options
  // Tool results of a joined run belong to the process that started it.
  if (!tools || toolMode === 'turns' || stream === false || operation === 'runs.attach') return undefined
  return Object.keys(tools).filter((name) => tools[name])
}

/** The error for tools with a background run. */
export function noToolsInBackground(): ConfigurationError {
  return new ConfigurationError('A background run takes no tools. Pass them to job.attach({ tools })')
}

/** Splits the options into those that are sent and those of the request. */
export function sentOptions<O extends OutputKind>({ options, lastEventId }: RunStart<O>): RequestOptions {
  const { tools, toolMode, maxToolRounds, resume, idleTimeout, bufferEvents, onAbort, ...others } = options
  const { onEvent, onText, onToolCall, onFinished, onError, ...sent } = others
  return lastEventId === undefined ? sent : { ...sent, headers: { 'Last-Event-ID': lastEventId, ...sent.headers } }
}

/** The options of the request itself, reused for later requests of the same run. */
export function requestOnly({ signal, timeout, maxRetries, headers }: RequestOptions): RequestOptions {
  // An undefined option counts as absent.
  return { signal, timeout, maxRetries, headers } as RequestOptions
}

/** Attaches to the latest run of a conversation. */
export function attachStart<O extends OutputKind>(conversationUuid: string, o: AttachOptions<O>): RunStart<O> {
  const { lastEventId, ...options } = o
  return { operation: 'runs.attach', fields: { conversationUuid }, options, lastEventId }
}
