import { z } from 'zod'
import { ConversationParams, Id, JsonObject, orRaw, Person, ProjectParams, Timestamp, Uuid } from '../common.ts'
import { documentedAs } from '../documented.ts'
import { RunErrorCode, withErrors } from '../errors.ts'
import { pageSize } from '../query-values.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { RequestChannel } from './conversations.ts'
import { ConversationNote, FeedbackValue } from './labels.ts'
import { Message } from './messages.ts'
import { ParametersState, RunMode, RunOverrides, RunState, Usage } from './runs.ts'
import { StatsVia } from './stats.ts'

const RunUsage = Usage.pick({ inputTokens: true, outputTokens: true, cachedInputTokens: true })
const milliseconds = z.int().nonnegative()
const usd = z.number().nonnegative()

export const Run = z
  .object({
    uuid: Uuid,
    conversationUuid: Uuid,
    projectId: Id,
    documentUuid: Uuid,
    path: z.string(),
    versionUuid: Uuid,
    status: RunState,
    error: z.object({ errorCode: RunErrorCode, message: z.string() }).nullable(),
    mode: RunMode,
    via: RequestChannel,
    author: Person.nullable().meta({ description: 'The author of the API key that started the run.' }),
    apiKey: z.object({ id: Id, name: z.string() }).nullable(),
    customIdentifier: z.string().nullable(),
    provider: z.string().nullable().meta({ description: 'The provider key of the last model call.' }),
    model: z.string().nullable().meta({ description: 'The model of the last model call.' }),
    finishReason: z.string().nullable().meta({ description: '`null` if the last model call did not end.' }),
    overrides: RunOverrides.nullable().meta({
      description: 'The settings that the caller gave in place of the front matter.',
    }),
    createdAt: Timestamp,
    startedAt: Timestamp.nullable().meta({ description: '`null` until the run has ended.' }),
    endedAt: Timestamp.nullable(),
    queuedMs: milliseconds.nullable().meta({ description: 'From `createdAt` to `startedAt`.' }),
    durationMs: milliseconds.nullable().meta({ description: 'From `createdAt` to `endedAt`.' }),
    firstTokenMs: milliseconds.nullable().meta({
      description: 'From `createdAt` to the first text or tool call; `null` without a stream.',
    }),
    tokenUsage: RunUsage.meta({ description: 'The sums of all model calls; 0 until the run has ended.' }),
    isUsageEstimated: z.boolean().meta({
      description: 'Whether the tokens of a model call were estimated from its text, because the call did not end.',
    }),
    cost: usd.nullable().meta({ description: 'In USD; `null` if a model call has no known price.' }),
    tags: z.array(z.string()).meta({ description: 'The tags of the conversation, in alphabetical order.' }),
    feedback: FeedbackValue.nullable().meta({ description: 'The newest feedback for the conversation.' }),
    parametersState: ParametersState,
    givenFrom: z.int().nonnegative().nullable().meta({
      description:
        "The position of the first of the caller's messages in the conversation; `null` without any, and until the run has ended.",
    }),
    givenCount: z.int().nonnegative().nullable(),
    firstEventId: z.int(),
    lastEventId: z.int().nullable(),
    eventsKept: z.boolean().meta({ description: 'Whether the events of the run can be read.' }),
  })
  .meta({
    id: 'Run',
    description: 'One execution of a prompt, or one chat, without its messages.',
    example: 'const { status, durationMs, cost } = await stet.runs.get(uuid)',
  })

export const RunSpan = z
  .object({
    kind: z.enum(['step', 'model', 'tool', 'wait']).meta({
      description: 'A `wait` is a tool call whose result the caller gives.',
    }),
    name: z.string().meta({ description: 'The path of the prompt, the model or the tool.' }),
    parent: z.int().nonnegative().nullable().meta({ description: 'An index in the list of spans.' }),
    startMs: milliseconds.meta({ description: 'In milliseconds since `createdAt` of the run.' }),
    endMs: milliseconds,
    firstTokenMs: milliseconds.exactOptional(),
    usage: RunUsage.exactOptional(),
    cost: usd.exactOptional(),
    status: z.enum(['ok', 'error', 'stopped']),
  })
  .meta({ id: 'RunSpan', description: 'A step, a model call or a tool call of a run.' })

export const RunDetails = Run.extend({
  parameters: JsonObject.nullable().meta({ description: 'The values as the caller gave them.' }),
  spans: z.array(RunSpan),
  spansCut: z.boolean().meta({ description: 'Whether the run had more spans than are kept.' }),
  messageRange: z
    .array(z.int().nonnegative())
    .length(2)
    .nullable()
    .meta({ description: "The run's messages in the conversation: `[from, to)`; `null` until the run has ended." }),
  note: ConversationNote.nullable().meta({ description: 'The note of the conversation.' }),
}).meta({ id: 'RunDetails', example: 'const { parameters, spans } = await stet.runs.get(uuid)' })

export const ListedRun = Run.extend({
  parameters: JsonObject.nullable().exactOptional().meta({ description: 'With `include=content`.' }),
  messages: z
    .array(Message)
    .exactOptional()
    .meta({ description: "With `include=content`: the run's own messages. Empty until the run has ended." }),
}).meta({
  id: 'ListedRun',
  description: 'A run of a list, with its content if the request asks for it.',
  example: "for await (const { uuid, messages } of stet.runs.list({ include: 'content' })) console.log(uuid, messages)",
})

export const RunPage = z
  .object({
    items: z.array(ListedRun),
    nextCursor: z.string().nullable().meta({ description: 'Opaque; `null` on the last page.' }),
    scannedTo: Timestamp.nullable().meta({
      description: 'The run at which the search stopped. `null` if it came to the oldest one.',
    }),
  })
  .meta({ id: 'RunPage', example: 'const isLastPage = page.nextCursor === null' })

const instant = z.iso.datetime({ offset: true }).meta({ pattern: undefined })
const amount = documentedAs(
  z
    .string()
    .regex(/^\d{1,15}(\.\d{1,12})?$/, { error: 'must be a number' })
    .transform(Number),
  usd,
)
const states = documentedAs(
  z
    .string()
    .transform((value) => value.split(','))
    .pipe(z.array(RunState)),
  z.array(RunState),
)

export const ListRunsQuery = z
  .object({
    documentUuid: z.string().exactOptional(),
    path: z.string().exactOptional(),
    versionUuid: z.string().exactOptional(),
    status: states.exactOptional().meta({ description: 'States, separated by commas.' }),
    model: z.string().exactOptional(),
    via: StatsVia.exactOptional().meta({ description: 'Default: `api` and `console`.' }),
    author: z.string().exactOptional().meta({ description: 'The id of an author, or `me`.' }),
    customIdentifier: z.string().exactOptional(),
    tag: z.string().exactOptional().meta({
      description: "A tag of the run's conversation. The newest conversation comes first.",
    }),
    feedback: FeedbackValue.exactOptional().meta({
      description: 'The newest feedback for the conversation. The newest conversation comes first.',
    }),
    minCost: amount.exactOptional().meta({ description: 'In USD.' }),
    minDurationMs: amount.exactOptional(),
    from: instant.exactOptional().meta({ description: 'Only runs created at this instant or later.' }),
    to: instant.exactOptional().meta({ description: 'Only runs created at this instant or earlier.' }),
    uuid: z
      .string()
      .regex(/^[0-9a-fA-F-]{8,36}$/, { error: 'must have at least 8 hexadecimal digits' })
      .exactOptional()
      .meta({ description: 'The start of the uuid of a run or conversation: at least 8 hexadecimal digits.' }),
    limit: pageSize.exactOptional().meta({ description: 'Default: 50.' }),
    cursor: z.string().exactOptional().meta({ description: 'The `nextCursor` of the previous page.' }),
    include: z
      .literal('content')
      .exactOptional()
      .meta({
        description: `Adds the parameters and the messages of each run. Then \`limit\` is at most ${LIMITS.contentPageSize}, its default.`,
      }),
  })
  .refine(({ include, limit = 1 }) => include === undefined || limit <= LIMITS.contentPageSize, {
    path: ['limit'],
    error: `must be 1 to ${LIMITS.contentPageSize} with \`include=content\``,
  })
  .meta({
    id: 'ListRunsQuery',
    description: 'Filters runs. A run must match every given field.',
    example: "{ status: ['error'], from: '2026-01-01T00:00:00Z' }",
  })

export const runRecordRoutes = {
  list: {
    summary: 'List runs',
    description:
      'Newest first; with `tag` or `feedback`, by the start of the conversation. Without messages, unless ' +
      '`include=content` asks for them. A request reads at most 5,000 runs, so a page may have fewer runs than `limit`, ' +
      'or none: continue with `nextCursor`.',
    pathParams: ProjectParams,
    query: ListRunsQuery,
    responses: withErrors({ 200: orRaw(RunPage) }),
  },
  get: {
    summary: 'Get a run',
    description:
      'Takes the uuid of a run, or of a conversation for its latest run. Messages are part of the conversation.',
    pathParams: z.object({ runUuid: z.string().meta({ description: 'The uuid of a run or conversation.' }) }),
    responses: withErrors({ 200: orRaw(RunDetails) }),
  },
  ofConversation: {
    summary: 'List the runs of a conversation',
    description: 'Oldest first, at most 1,000.',
    pathParams: ConversationParams,
    responses: withErrors({ 200: z.array(Run) }),
  },
}
