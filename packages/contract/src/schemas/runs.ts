import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  ConversationParams,
  DocumentPath,
  JsonObject,
  nameText,
  orRaw,
  text,
  Uuid,
  VersionParams,
} from '../common.ts'
import { withErrors } from '../errors.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { Message, MessageInput, ToolCall } from './messages.ts'
import { ProviderKind } from './provider-api-keys.ts'

const c = initContract()

export const RunState = z.enum(['queued', 'running', 'completed', 'error', 'stopped']).meta({
  description:
    "The state of a conversation's latest run: `queued`, then `running`, then `completed`, `error` or `stopped`. A queued run can be stopped too.",
})

export const RunMode = z
  .enum(['json', 'sse', 'background'])
  .meta({ description: 'How the caller gets the result: as one response, as a stream, or later.' })

export const ParametersState = z.enum(['kept', 'too-large', 'off', 'none']).meta({
  description:
    '`kept`: the run has its parameters. `too-large`: they have more than 64 KB as JSON. `off`: the server or the project keeps none. `none`: a chat has no parameters.',
})

export const Usage = z
  .object({
    inputTokens: z.int().nonnegative(),
    outputTokens: z.int().nonnegative(),
    promptTokens: z.int().nonnegative(),
    completionTokens: z.int().nonnegative(),
    totalTokens: z.int().nonnegative(),
    reasoningTokens: z.int().nonnegative(),
    cachedInputTokens: z.int().nonnegative(),
  })
  .meta({
    id: 'Usage',
    description:
      'Token counts of one step or of a whole run. `promptTokens` equals `inputTokens`, and `completionTokens` equals `outputTokens`.',
    example: 'console.log(`${result.tokenUsage.inputTokens} in, ${result.tokenUsage.outputTokens} out`)',
  })

export const FinishReason = z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other', 'unknown'])

const responseShape = {
  text: z.string(),
  reasoning: z.string().exactOptional(),
  usage: Usage,
  cost: z.number().nonnegative().meta({ description: 'In USD; 0 when unknown.' }),
  model: z.string(),
  provider: ProviderKind,
  finishReason: FinishReason,
  documentLogUuid: Uuid.meta({ description: 'The uuid of the conversation.' }),
  input: z.array(Message).meta({ description: 'The messages that the model received.' }),
  output: z
    .array(Message)
    .meta({ description: 'The messages that the model generated, with tool calls and their results.' }),
}

export const TextResponse = z
  .object({ streamType: z.literal('text'), ...responseShape, toolCalls: z.array(ToolCall) })
  .meta({ id: 'TextResponse' })

export const ObjectResponse = z
  .object({
    streamType: z.literal('object'),
    object: z.unknown(),
    ...responseShape,
    toolCalls: z.array(ToolCall).max(0),
  })
  .meta({
    id: 'ObjectResponse',
    description:
      'A JSON response. `object` is the JSON value in `text`, which may include a code fence. `toolCalls` is empty.',
  })

export const RunResponse = z.discriminatedUnion('streamType', [TextResponse, ObjectResponse]).meta({
  id: 'RunResponse',
  example: "const value = response.streamType === 'object' ? response.object : response.text",
})

export const RunSource = z.object({ documentUuid: Uuid, commitUuid: Uuid }).meta({
  id: 'RunSource',
  description: "The prompt and the version that a conversation ran on. `commitUuid` is the version's uuid.",
})

export const RunResult = z
  .object({
    uuid: Uuid.meta({ description: 'The conversation. You can read, continue and annotate it.' }),
    conversation: z
      .array(Message)
      .meta({ description: 'All messages: the prompt, responses, tool calls and their results.' }),
    response: RunResponse.meta({ description: 'The response of the last step.' }),
    toolRequests: z
      .array(ToolCall)
      .meta({ description: 'Tool calls that wait for the caller. Answer them with a chat.' }),
    source: RunSource,
    tokenUsage: Usage.meta({ description: 'The sum of all steps.' }),
    cost: z.number().nonnegative().meta({ description: 'The sum of all steps, in USD.' }),
  })
  .meta({ id: 'RunResult', example: 'console.log(result.response.text, result.cost)' })

export const BackgroundRun = z.strictObject({ uuid: Uuid }).meta({ id: 'BackgroundRun' })

const toolName = nameText({ min: 1, max: LIMITS.toolNameLength })

const callerShape = {
  stream: z.boolean().default(false).meta({ description: 'Respond with the events of the run as they happen.' }),
  tools: z.array(toolName).max(LIMITS.toolNames).exactOptional().meta({
    description: 'Names of the tools that the caller runs. The run waits for their results.',
  }),
  mcpHeaders: JsonObject.exactOptional().meta({ description: 'Accepted, not used.' }),
}

/** The length is checked here. `invalid-tag` refuses the reserved prefix. */
export const ConversationTag = nameText({ min: 1, max: LIMITS.tagLength })

export const RunOverrides = absent({
  provider: nameText({ min: 1, max: LIMITS.nameLength }).exactOptional().meta({
    description: 'The name of a provider key.',
  }),
  model: nameText({ min: 1, max: LIMITS.nameLength }).exactOptional(),
  temperature: z.number().exactOptional(),
  topP: z.number().exactOptional(),
  maxTokens: z.int().positive().exactOptional(),
  reasoningEffort: nameText({ min: 1, max: LIMITS.nameLength }).exactOptional(),
}).meta({
  id: 'RunOverrides',
  description:
    'Settings of a model that a run uses instead of those in its front matter. Attributes of a `<step>` rank higher.',
  example: "{ model: 'gpt-6-luna', temperature: 0 }",
})

export const RunDocumentBody = absent({
  path: DocumentPath,
  parameters: JsonObject.default({}).meta({ description: 'Values of the parameters by name.' }),
  ...callerShape,
  background: z
    .boolean()
    .default(false)
    .meta({ description: 'If true, the server responds immediately. Attach to the run to get its result.' }),
  messages: z.array(MessageInput).max(LIMITS.messages).exactOptional().meta({
    description: 'Appended after the compiled prompt. Not allowed for prompts that use `<step>`.',
  }),
  userMessage: z.string().exactOptional().meta({ deprecated: true, description: 'Use `messages`.' }),
  customIdentifier: text({ max: LIMITS.customIdentifierLength }).exactOptional().meta({
    description: 'Stored with the conversation, to find it by.',
  }),
  tags: z.array(ConversationTag).max(LIMITS.runTags).exactOptional().meta({
    description: 'Tags of the conversation. The prefix `feedback:` is reserved.',
  }),
  overrides: RunOverrides.exactOptional().meta({
    description: 'Needs the scope `write` besides `run`. Recorded on the run; its chats keep them.',
  }),
}).meta({ id: 'RunDocumentBody', example: "{ path: 'support/reply', parameters: { name: 'Ada' }, stream: true }" })

export const ChatBody = absent({
  messages: z.array(MessageInput).min(1).max(LIMITS.messages).meta({ description: 'Appended to the conversation.' }),
  ...callerShape,
}).meta({ id: 'ChatBody', example: "{ messages: [{ role: 'user', content: 'And in French?' }] }" })

export const AttachBody = absent({
  runUuid: Uuid.exactOptional().meta({ description: 'A run of the conversation. Default: the latest one.' }),
  stream: z.boolean().default(false).meta({
    description: 'If true, the response streams the events after `Last-Event-ID`, or all events without this header.',
  }),
}).meta({ id: 'AttachBody' })

export const StopResult = z
  .object({
    uuid: Uuid,
    stopped: z.boolean().meta({ description: 'Whether this call stopped a run.' }),
    status: RunState,
  })
  .meta({
    id: 'StopResult',
    example: "{ uuid: '3f0c5a3e-6f0e-4a53-9d3c-0a1b2c3d4e5f', stopped: true, status: 'stopped' }",
  })

export const runRoutes = {
  run: {
    summary: 'Run a prompt',
    description:
      'Responds with the result, with the event stream (`stream`), or at once with the uuid of the conversation ' +
      '(`background`). A failed run is 422 `DocumentRunError`, or a `chain-error` event in a stream.',
    pathParams: VersionParams,
    body: RunDocumentBody,
    responses: withErrors({ 200: orRaw(z.union([RunResult, BackgroundRun])) }),
  },
  chat: {
    summary: 'Continue a conversation',
    description:
      'Runs one model step on the whole conversation, with the configuration that its first run recorded. 409 while a ' +
      'run of the conversation is active.',
    pathParams: ConversationParams,
    body: ChatBody,
    responses: withErrors({ 200: orRaw(RunResult) }),
  },
  attach: {
    summary: 'Attach to a run',
    description:
      'Returns the result of the latest run of the conversation, or of the run `runUuid`, which may be queued, running or ' +
      'ended. With `stream`, returns its events, or those after `Last-Event-ID`. Text parts have their text under `text` and `content`.',
    pathParams: ConversationParams,
    body: AttachBody,
    responses: withErrors({ 200: orRaw(RunResult) }),
  },
  stop: {
    summary: 'Stop a run',
    description:
      'Stops a queued or running run, in the foreground or background. Any body is ignored. An ended run does not ' +
      'change. The response waits up to 2 seconds for the end of the run.',
    pathParams: ConversationParams,
    body: c.noBody(),
    responses: withErrors({ 200: StopResult }),
  },
} as const
