import { z } from 'zod'
import { Uuid } from './common.ts'
import { Message, ToolCall } from './messages.ts'
import { ProviderKind } from './provider-api-keys.ts'

/**
 * Tokens of one step or of a whole run. `prompt` and `input` count the same, so do `completion` and `output`.
 *
 * @example
 * { "inputTokens": 12, "outputTokens": 5, "promptTokens": 12, "completionTokens": 5, "totalTokens": 17, … }
 */
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
  .meta({ id: 'Usage' })
export type Usage = z.infer<typeof Usage>

/** Why a model stopped. */
export const FinishReason = z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other', 'unknown'])
export type FinishReason = z.infer<typeof FinishReason>

const responseShape = {
  text: z.string(),
  reasoning: z.string().exactOptional(),
  usage: Usage,
  cost: z.number().nonnegative().meta({ description: 'In USD; 0 when unknown.' }),
  model: z.string(),
  provider: ProviderKind,
  finishReason: FinishReason,
  documentLogUuid: Uuid.meta({ description: 'The uuid of the conversation.' }),
  input: z.array(Message).meta({ description: 'What was sent to the model.' }),
  output: z.array(Message).meta({ description: 'What came back, tool turns included.' }),
}

/** An answer in text. */
export const TextResponse = z
  .object({ streamType: z.literal('text'), ...responseShape, toolCalls: z.array(ToolCall) })
  .meta({ id: 'TextResponse' })
export type TextResponse = z.infer<typeof TextResponse>

/** An answer that was asked for as JSON: `text` is its source, `object` its value. */
export const ObjectResponse = z
  .object({
    streamType: z.literal('object'),
    object: z.unknown(),
    ...responseShape,
    toolCalls: z.array(ToolCall).max(0),
  })
  .meta({ id: 'ObjectResponse' })
export type ObjectResponse = z.infer<typeof ObjectResponse>

/**
 * What one model step answered.
 *
 * @example
 * { "streamType": "text", "text": "Hello", "toolCalls": [], "cost": 0, "finishReason": "stop", … }
 */
export const RunResponse = z
  .discriminatedUnion('streamType', [TextResponse, ObjectResponse])
  .meta({ id: 'RunResponse' })
export type RunResponse = z.infer<typeof RunResponse>

/** The prompt and the version that a conversation ran on; `commitUuid` is the uuid of the version. */
export const RunSource = z.object({ documentUuid: Uuid, commitUuid: Uuid }).meta({ id: 'RunSource' })
export type RunSource = z.infer<typeof RunSource>

/**
 * The result of a run or a chat.
 *
 * @example
 * { "uuid": "c1d2…", "conversation": […], "response": { "text": "Hello", … }, "toolRequests": [], "cost": 0, … }
 */
export const RunResult = z
  .object({
    uuid: Uuid.meta({ description: 'The conversation; it can be read, continued and annotated from now on.' }),
    conversation: z.array(Message).meta({ description: 'Everything: prompt, answers, tool calls and results.' }),
    response: RunResponse.meta({ description: 'Of the last model step.' }),
    toolRequests: z.array(ToolCall).meta({ description: 'Calls that wait for the caller; continue by chat.' }),
    source: RunSource,
    tokenUsage: Usage.meta({ description: 'The sum of all steps.' }),
    cost: z.number().nonnegative().meta({ description: 'The sum of all steps, in USD.' }),
  })
  .meta({ id: 'RunResult' })
export type RunResult = z.infer<typeof RunResult>

/**
 * The answer to a run in the background.
 *
 * @example
 * { "uuid": "c1d2…" }
 */
export const BackgroundRun = z.strictObject({ uuid: Uuid }).meta({ id: 'BackgroundRun' })
export type BackgroundRun = z.infer<typeof BackgroundRun>
