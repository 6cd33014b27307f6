/** Stores an external log as a conversation without a run. A chat can continue the conversation. */

import { randomBytes } from 'node:crypto'
import type { Message } from '@stet/contract/vocabulary'
import type { Needs } from '../deps.ts'
import { preparePrompt } from '../documents/read-document.ts'
import type { VersionAddress } from '../documents/version-ref.ts'
import { newConversation } from '../runs/start-run.ts'
import type { ExternalLog, LoggedConversation, NewExternalLog } from './external-log.ts'

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
