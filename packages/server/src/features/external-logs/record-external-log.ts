/** Stores an external log as a conversation without a run. A chat can continue the conversation. */

import { randomBytes } from 'node:crypto'
import type { Message, Span } from '@stet/contract/vocabulary'
import type { Needs } from '../deps.ts'
import { preparePrompt } from '../documents/read-document.ts'
import type { VersionAddress } from '../documents/version-ref.ts'
import type { NewConversation } from '../runs/ports.ts'
import { newConversation } from '../runs/start-run.ts'

export interface LoggedConversation extends NewConversation {
  origin: 'log'
  messages: Message[]
}

export interface NewExternalLog {
  versionId: number
  parameters: Record<string, unknown>
  durationMs: number | null
  promptSpan: Span
  completionSpan: Span
}

export interface ExternalLog extends NewExternalLog {
  id: number
  conversation: LoggedConversation
  resolvedContent: string
}

export interface ExternalLogStore {
  /** Writes the conversation and the external log atomically. Resolves with the external log's id. */
  create(conversation: LoggedConversation, entry: NewExternalLog): Promise<number>
}

export interface RecordExternalLogInput extends VersionAddress {
  path: string
  messages: readonly Message[]
  /** Becomes the last assistant message. */
  response?: string
  parameters: Record<string, unknown>
  customIdentifier?: string
  durationMs?: number
}

/** Accepts a document with compile errors. @throws AppError NotFoundError (project, version, document). */
export async function recordExternalLog(
  deps: Needs<'stores' | 'singleWrite' | 'liveCache' | 'templates' | 'clock'>,
  input: RecordExternalLogInput,
): Promise<ExternalLog> {
  const prepared = await preparePrompt(deps, input)
  const messages = [...input.messages]
  if (input.response !== undefined) {
    messages.push({ role: 'assistant', content: [{ type: 'text', text: input.response }] })
  }
  const conversation: LoggedConversation = {
    ...newConversation(deps, input, prepared, 'log'),
    origin: 'log',
    messages,
  }
  const traceId = randomBytes(16).toString('hex')
  const entry: NewExternalLog = {
    versionId: prepared.version.id,
    parameters: input.parameters,
    durationMs: input.durationMs ?? null,
    promptSpan: { id: newSpanId(), traceId },
    completionSpan: { id: newSpanId(), traceId },
  }
  return deps.singleWrite(async ({ externalLogs }) => {
    const id = await externalLogs.create(conversation, entry)
    return { ...entry, id, conversation, resolvedContent: prepared.scan.resolvedContent }
  })
}

function newSpanId(): string {
  return randomBytes(8).toString('hex')
}
