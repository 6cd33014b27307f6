import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  ContentHash,
  DocumentPath,
  Id,
  JsonObject,
  LIMITS,
  orTap,
  type RouteMetadata,
  Timestamp,
  text,
  Uuid,
  VersionParams,
} from './common.ts'
import { withErrors } from './errors.ts'
import { MessageInput } from './message-input.ts'

const c = initContract()

/**
 * The body that records a prompt's execution outside stet.
 *
 * @example
 * { "path": "support/reply", "messages": [{ "role": "user", "content": "Hello" }], "response": "Hi Ada!" }
 */
export const CreateLogBody = absent({
  path: DocumentPath,
  messages: z.array(MessageInput).max(LIMITS.messages).meta({ description: 'What was sent and answered so far.' }),
  response: z.string().exactOptional().meta({ description: 'The closing message of the assistant.' }),
  parameters: JsonObject.default({}).meta({ description: 'The values that the prompt ran with.' }),
  customIdentifier: text({ max: LIMITS.customIdentifierLength }).exactOptional().meta({
    description: 'Kept with the conversation, to find it by.',
  }),
  duration: z.int32().nonnegative().exactOptional().meta({ description: 'Milliseconds.' }),
}).meta({ id: 'CreateLogBody' })
export type CreateLogBody = z.input<typeof CreateLogBody>

/** A place in a trace, in hex. */
export const Span = z
  .object({ id: z.string().regex(/^[0-9a-f]{16}$/), traceId: z.string().regex(/^[0-9a-f]{32}$/) })
  .meta({ id: 'Span' })
export type Span = z.infer<typeof Span>

/**
 * A recorded execution. Its `uuid` is that of its conversation.
 *
 * @example
 * { "id": 1, "uuid": "c1d2…", "documentUuid": "0b7e…", "duration": 1200, "source": "api", … }
 */
export const LogEntry = z
  .object({
    id: Id,
    uuid: Uuid.meta({ description: 'The conversation; it can be read, continued and annotated from now on.' }),
    documentUuid: Uuid,
    commitId: Id.meta({ description: 'The id of the version.' }),
    resolvedContent: z.string(),
    contentHash: ContentHash,
    parameters: JsonObject,
    customIdentifier: z.string().nullable(),
    duration: z.int().nullable().meta({ description: 'Milliseconds.' }),
    source: z.literal('api'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    promptSpan: Span,
    completionSpan: Span,
  })
  .meta({ id: 'LogEntry' })
export type LogEntry = z.infer<typeof LogEntry>

export const logs = c.router({
  create: {
    method: 'POST',
    path: '/projects/:projectId/versions/:versionUuid/documents/logs',
    summary: 'Record a log',
    description: 'Keeps a conversation that happened outside stet. Nothing is executed.',
    pathParams: VersionParams,
    body: CreateLogBody,
    responses: withErrors({ 200: orTap(LogEntry) }),
    metadata: {
      scope: 'run',
      rateLimited: true,
      idempotent: true,
      streams: false,
      errors: ['unknown-document', 'too-many-evaluations'],
    } as const satisfies RouteMetadata,
  },
})
