/**
 * The responses that published clients accept: exactly the documented keys, whole token counts and times, and listed
 * kinds, reasons and roles. These schemas match the strictest client.
 */
import { z } from 'zod'

const timestamp = z.iso.datetime({ precision: 3 })
const uuid = z.uuid()
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const person = z.strictObject({ id: z.int(), name: z.string(), email: z.string() })
const anyObject = z.record(z.string(), z.unknown())

const kinds = [
  ...(['openai', 'anthropic', 'groq', 'mistral', 'azure', 'google', 'google_vertex', 'anthropic_vertex'] as const),
  ...(['custom', 'xai', 'amazon_bedrock', 'deepseek', 'perplexity'] as const),
]
const Kind = z.enum(kinds)
const FinishReason = z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other', 'unknown'])

export const ErrorBody = z.strictObject({
  name: z.string().min(1),
  errorCode: z.string().min(1),
  message: z.string().min(1),
  reason: z.string().min(1),
  details: anyObject,
})
/** The attach route also writes the message under a second key. */
export const AttachErrorBody = ErrorBody.extend({ error: z.strictObject({ message: z.string() }) })

export const Prompt = z.strictObject({
  id: z.int(),
  uuid,
  documentUuid: uuid,
  versionUuid: uuid,
  path: z.string(),
  content: z.string(),
  resolvedContent: z.string(),
  contentHash: hash,
  commitId: z.int(),
  projectId: z.int(),
  config: anyObject,
  // Declared parameters may have additional keys.
  parameters: z.record(z.string(), z.looseObject({ type: z.enum(['text', 'image', 'file']) })),
  provider: Kind.optional(),
  errors: z.array(anyObject),
  issues: z.array(anyObject),
  createdAt: timestamp,
  updatedAt: timestamp,
  mergedAt: timestamp.nullable(),
  deletedAt: z.null(),
  updatedBy: person.nullable(),
})
export const DeletedPrompt = z.strictObject({ documentUuid: uuid, path: z.string() })

export const Version = z.strictObject({
  id: z.int(),
  uuid,
  projectId: z.int(),
  title: z.string(),
  message: z.string(),
  description: z.string().nullable(),
  authorId: z.int(),
  authorName: z.string(),
  authorEmail: z.string(),
  userId: z.string(),
  status: z.enum(['draft', 'merged']),
  version: z.int().nullable(),
  parentCommitUuid: uuid.nullable(),
  mainDocumentUuid: z.null(),
  isLive: z.boolean(),
  createdAt: timestamp,
  updatedAt: timestamp,
  mergedAt: timestamp.nullable(),
  deletedAt: z.null(),
  publishedBy: person.nullable(),
  changeCount: z.int(),
  forcedEdits: z.array(
    z.strictObject({
      revision: z.int(),
      path: z.string(),
      author: person,
      oldHash: hash.nullable(),
      newHash: hash,
      createdAt: timestamp,
    }),
  ),
  revision: z.int(),
  baseVersionUuid: uuid.nullable(),
  baseRevision: z.int().nullable(),
})

export const Project = z.strictObject({
  id: z.int(),
  name: z.string(),
  workspaceId: z.int(),
  liveVersionUuid: uuid.nullable(),
  defaultProvider: z.string().nullable(),
  defaultModel: z.string().nullable(),
  retentionDays: z.int().nullable(),
  keepParameters: z.boolean().nullable(),
  lastEditedAt: timestamp,
  createdAt: timestamp,
  updatedAt: timestamp,
  deletedAt: z.null(),
})
export const CreatedProject = z.strictObject({ project: Project, version: Version })

export const Annotation = z.strictObject({
  uuid,
  score: z.int(),
  normalizedScore: z.int(),
  metadata: anyObject,
  hasPassed: z.boolean(),
  error: z.null(),
  versionUuid: uuid,
  conversationUuid: uuid,
  evaluationUuid: uuid,
  createdAt: timestamp,
  updatedAt: timestamp,
})

const Span = z.strictObject({ id: z.string().length(16), traceId: z.string().length(32) })
export const Log = z.strictObject({
  id: z.int(),
  uuid,
  documentUuid: uuid,
  commitId: z.int(),
  resolvedContent: z.string(),
  contentHash: hash,
  parameters: anyObject,
  customIdentifier: z.string().nullable(),
  duration: z.int().nullable(),
  source: z.enum(['api', 'playground', 'evaluation', 'user', 'shared_prompt']),
  createdAt: timestamp,
  updatedAt: timestamp,
  promptSpan: Span,
  completionSpan: Span,
})

const TextPart = z.strictObject({ type: z.literal('text'), text: z.string() })
const ImagePart = z.strictObject({ type: z.literal('image'), image: z.string(), mimeType: z.string().optional() })
const FilePart = z.strictObject({ type: z.literal('file'), file: z.string(), mimeType: z.string() })
const ToolCallPart = z.strictObject({
  type: z.literal('tool-call'),
  toolCallId: z.string(),
  toolName: z.string(),
  args: anyObject,
})
const ToolResultPart = z.strictObject({
  type: z.literal('tool-result'),
  toolCallId: z.string(),
  toolName: z.string(),
  result: z.unknown(),
  isError: z.boolean().optional(),
})
// There is no `developer` role. Assistant messages have no reasoning or media.
export const Message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.array(TextPart) }),
  z.strictObject({ role: z.literal('user'), content: z.array(z.union([TextPart, ImagePart, FilePart])) }),
  z.strictObject({ role: z.literal('assistant'), content: z.array(z.union([TextPart, ToolCallPart])) }),
  z.strictObject({ role: z.literal('tool'), content: z.array(ToolResultPart) }),
])

const ToolCall = z.strictObject({ id: z.string(), name: z.string(), arguments: anyObject })
const Usage = z.strictObject({
  inputTokens: z.int(),
  outputTokens: z.int(),
  promptTokens: z.int(),
  completionTokens: z.int(),
  totalTokens: z.int(),
  reasoningTokens: z.int(),
  cachedInputTokens: z.int(),
})
const everyResponse = {
  text: z.string(),
  toolCalls: z.array(ToolCall),
  reasoning: z.string().optional(),
  usage: Usage,
  cost: z.number(),
  model: z.string(),
  provider: Kind,
  finishReason: FinishReason,
  documentLogUuid: uuid,
  input: z.array(Message),
  output: z.array(Message),
}
const Response = z.discriminatedUnion('streamType', [
  z.strictObject({ streamType: z.literal('text'), ...everyResponse }),
  z.strictObject({ streamType: z.literal('object'), object: z.unknown(), ...everyResponse }),
])
const source = z.strictObject({ documentUuid: uuid, commitUuid: uuid })

const result = {
  uuid,
  conversation: z.array(Message),
  response: Response,
  toolRequests: z.array(ToolCall),
  source,
  tokenUsage: Usage,
  cost: z.number(),
}
export const RunResult = z.strictObject(result)
/** The attach route returns text parts with their text under two keys. */
export const AttachedResult = z.strictObject({
  ...result,
  conversation: z.array(
    z.strictObject({
      role: z.enum(['system', 'user', 'assistant', 'tool']),
      content: z.array(
        z
          .union([TextPart.extend({ content: z.string() }), ToolCallPart, ToolResultPart])
          .refine((part) => part.type !== 'text' || part.content === part.text),
      ),
    }),
  ),
  response: z.looseObject({ text: z.string(), usage: Usage }),
})
export const BackgroundResult = z.strictObject({ uuid })
export const Stopped = z.strictObject({ uuid, stopped: z.boolean(), status: z.string() })
export const ToolResultTaken = z.strictObject({ success: z.literal(true) })
export const Pushed = z.strictObject({
  commitUuid: uuid,
  versionUuid: uuid,
  documentsProcessed: z.int(),
  added: z.int(),
  modified: z.int(),
  deleted: z.int(),
})

const everyEvent = { timestamp: z.int(), uuid, messages: z.array(Message), providerLogUuid: z.literal(''), source }
const LatitudeEvents = [
  z.strictObject({ type: z.literal('chain-started'), ...everyEvent }),
  z.strictObject({ type: z.literal('step-started'), ...everyEvent }),
  z.strictObject({ type: z.literal('provider-started'), ...everyEvent, config: anyObject }),
  z.strictObject({
    type: z.literal('provider-completed'),
    ...everyEvent,
    response: Response,
    tokenUsage: Usage,
    finishReason: FinishReason,
  }),
  z.strictObject({ type: z.literal('step-completed'), ...everyEvent }),
  z.strictObject({
    type: z.literal('chain-completed'),
    ...everyEvent,
    response: Response.optional(),
    toolCalls: z.array(ToolCall),
    finishReason: FinishReason,
    tokenUsage: Usage,
    cost: z.number(),
    toolRequests: z.array(ToolCall),
  }),
  z.strictObject({
    type: z.literal('chain-error'),
    ...everyEvent,
    error: z.strictObject({
      name: z.string(),
      message: z.string(),
      errorCode: z.string(),
      code: z.string(),
      details: anyObject,
    }),
    tokenUsage: Usage,
    cost: z.number(),
  }),
] as const
export const DeclaredEvent = z.discriminatedUnion('type', LatitudeEvents)
/** Client 4.1.9 sends no version and gets these event types. */
export const UndeclaredEvent = z.discriminatedUnion('type', [
  ...LatitudeEvents,
  z.strictObject({ type: z.literal('tools-requested'), ...everyEvent, tools: z.array(ToolCall) }),
])

export const ToolCallEvent = z.strictObject({
  type: z.literal('tool-call'),
  toolCallId: z.string(),
  toolName: z.string(),
  args: anyObject,
  _sourceData: z.strictObject({ source: z.enum(['client', 'agentAsTool', 'serverTool']) }),
})
export const ProviderEvent = z.looseObject({ type: z.string() })
