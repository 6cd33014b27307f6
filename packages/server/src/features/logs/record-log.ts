/** Stores an execution from outside stet as a conversation. Nothing runs, and a chat can continue it. */
import { randomBytes } from 'node:crypto'
import type { Caller, Needs } from '../deps.ts'
import { preparePrompt } from '../documents/read-document.ts'
import type { NewConversation } from '../runs/ports.ts'
import { newConversation } from '../runs/start-run.ts'
import type { Message } from '../templates/message.ts'

export interface RecordLogInput {
  caller: Caller
  projectId: number
  versionRef: string
  path: string
  messages: readonly Message[]
  /** Becomes the final assistant message. */
  response?: string
  parameters: Record<string, unknown>
  customIdentifier?: string
  durationMs?: number
  signal?: AbortSignal
}

/** @throws AppError NotFoundError (project, version, document). The document does not have to compile. */
export async function recordLog(
  deps: Needs<'stores' | 'liveCache' | 'templates' | 'logs' | 'clock'>,
  input: RecordLogInput,
): Promise<LogEntry> {
  const prepared = await preparePrompt(deps, input)
  const conversation: LoggedConversation = {
    ...newConversation(deps, input, prepared, 'log'),
    origin: 'log',
    messages: input.response === undefined ? [...input.messages] : [...input.messages, answer(input.response)],
  }
  const traceId = randomBytes(16).toString('hex')
  const entry: NewLogEntry = {
    versionId: prepared.version.id,
    parameters: input.parameters,
    durationMs: input.durationMs ?? null,
    promptSpan: { id: newSpanId(), traceId },
    completionSpan: { id: newSpanId(), traceId },
  }
  const id = await deps.logs.create(conversation, entry)
  return { ...entry, id, conversation, resolvedContent: prepared.scan.resolvedContent }
}

function answer(text: string): Message {
  return { role: 'assistant', content: [{ type: 'text', text }] }
}

function newSpanId(): string {
  return randomBytes(8).toString('hex')
}

/** Trace position in hex: 16 and 32 digits. */
export interface Span {
  id: string
  traceId: string
}

/** A conversation that never ran in stet. */
export interface LoggedConversation extends NewConversation {
  origin: 'log'
  messages: Message[]
}

/** The data stored beside the conversation. */
export interface NewLogEntry {
  /** The addressed version. */
  versionId: number
  parameters: Record<string, unknown>
  durationMs: number | null
  promptSpan: Span
  completionSpan: Span
}

export interface LogEntry extends NewLogEntry {
  id: number
  conversation: LoggedConversation
  resolvedContent: string
}

export interface LogStore {
  /** Writes both rows or none. Resolves with the id after the commit. */
  create(conversation: LoggedConversation, entry: NewLogEntry): Promise<number>
}
