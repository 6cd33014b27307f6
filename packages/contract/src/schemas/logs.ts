import { z } from 'zod'
import {
  absent,
  ContentHash,
  DocumentPath,
  Id,
  JsonObject,
  orRaw,
  Timestamp,
  text,
  Uuid,
  VersionParams,
} from '../common.ts'
import { withErrors } from '../errors.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { MessageInput } from './messages.ts'

export const CreateLogBody = absent({
  path: DocumentPath,
  messages: z.array(MessageInput).max(LIMITS.messages).meta({ description: 'The messages so far.' }),
  response: z.string().exactOptional().meta({ description: 'The last message of the assistant.' }),
  parameters: JsonObject.default({}).meta({ description: 'The parameters that the prompt ran with.' }),
  customIdentifier: text({ max: LIMITS.customIdentifierLength }).exactOptional().meta({
    description: 'Stored with the conversation, to find it by.',
  }),
  duration: z.int32().nonnegative().exactOptional().meta({ description: 'Milliseconds.' }),
}).meta({
  id: 'CreateLogBody',
  description: 'The body that records an external log: an execution that did not run in stet.',
  example: "{ path: 'support/reply', messages: [{ role: 'user', content: 'Hello' }], response: 'Hi Ada!' }",
})

export const Span = z
  .object({ id: z.string().regex(/^[0-9a-f]{16}$/), traceId: z.string().regex(/^[0-9a-f]{32}$/) })
  .meta({ id: 'Span', description: 'One span of a trace. Both ids are hex strings.' })

export const LogEntry = z
  .object({
    id: Id,
    uuid: Uuid.meta({ description: 'The conversation. You can read, continue and annotate it.' }),
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
  .meta({
    id: 'LogEntry',
    description: "A recorded external log. `uuid` is the conversation's uuid.",
    example: 'const seconds = (log.duration ?? 0) / 1000',
  })

export const logRoutes = {
  create: {
    summary: 'Record an external log',
    description: 'Stores a conversation that happened outside stet. Nothing runs.',
    pathParams: VersionParams,
    body: CreateLogBody,
    responses: withErrors({ 200: orRaw(LogEntry) }),
  },
}
