import { ConfigurationError } from './errors.ts'
import type { AttachOptions, RequestOptions, Scope, StreamCallbacks, StreamControls } from './options.ts'
import type { OutputKind } from './registry.ts'
import type { Message } from './types.ts'

type StartOptions<O extends OutputKind> = Scope &
  RequestOptions &
  StreamCallbacks<O> &
  StreamControls & {
    stream?: boolean
    background?: boolean
    runUuid?: string
    mcpHeaders?: Record<string, Record<string, string>>
  }

export interface RunStart<O extends OutputKind> {
  operation: 'prompts.run' | 'conversations.chat' | 'runs.attach'
  fields: { path: string } | { conversationUuid: string } | { conversationUuid: string; messages: Message[] }
  options: StartOptions<O>
  path?: string
  lastEventId?: string | undefined
}

/** Returns the names of the tools whose results the run waits for, or undefined if the run waits for none. */
export function inlineTools<O extends OutputKind>({ operation, options }: RunStart<O>): string[] | undefined {
  const { tools, toolMode, stream } = options
  // A run waits only for tools that its start request named, so an attached reader cannot add tools.
  if (!tools || toolMode === 'turns' || stream === false || operation === 'runs.attach') return undefined
  return Object.keys(tools).filter((name) => tools[name])
}

export function noToolsInBackground(): ConfigurationError {
  return new ConfigurationError('A background run takes no tools. Pass them to job.attach({ tools })')
}

export function sentOptions<O extends OutputKind>({ options, lastEventId }: RunStart<O>): RequestOptions {
  const { tools, toolMode, maxToolRounds, resume, idleTimeout, bufferEvents, onAbort, ...others } = options
  const { onEvent, onText, onToolCall, onFinished, onError, ...sent } = others
  return lastEventId === undefined ? sent : { ...sent, headers: { 'Last-Event-ID': lastEventId, ...sent.headers } }
}

export function requestOnly({ signal, timeout, maxRetries, headers }: RequestOptions): RequestOptions {
  return { signal, timeout, maxRetries, headers } as RequestOptions
}

/**
 * Returns the options for a chat with tool results. The round number is appended to the caller's idempotency key,
 * because each key is bound to one body.
 */
export function roundOptions<O extends OutputKind>(options: StartOptions<O>, round: number): RequestOptions {
  const { mcpHeaders, idempotencyKey } = options
  return {
    ...requestOnly(options),
    ...(mcpHeaders && { mcpHeaders }),
    ...(idempotencyKey !== undefined && { idempotencyKey: `${idempotencyKey}-tools-${round}` }),
  }
}

export function attachStart<O extends OutputKind>(conversationUuid: string, o: AttachOptions<O>): RunStart<O> {
  const { lastEventId, ...options } = o
  return { operation: 'runs.attach', fields: { conversationUuid }, options, lastEventId: lastEventId || undefined }
}
