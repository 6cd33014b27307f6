import { z } from 'zod'
import { JsonObject, Uuid } from '../common.ts'
import { RunErrorCode } from '../errors.ts'
import { Message, ToolCall } from './messages.ts'
import { FinishReason, RunResponse, RunSource, Usage } from './runs.ts'

const cost = z.number().nonnegative()

/** Clients replace their state with each event, so every event has all of these keys. */
const everyEvent = {
  timestamp: z.int().meta({ description: 'Epoch milliseconds.' }),
  uuid: Uuid.meta({ description: 'The conversation.' }),
  messages: z.array(Message).meta({ description: 'The whole conversation so far.' }),
  providerLogUuid: z.literal(''),
  source: RunSource,
}

export const RunFailure = z
  .object({
    name: z.literal('DocumentRunError'),
    message: z.string(),
    errorCode: RunErrorCode,
    code: RunErrorCode.meta({ description: 'The same as `errorCode`.' }),
    details: z.looseObject({ errorCode: RunErrorCode }),
  })
  .meta({
    id: 'RunFailure',
    description: 'The failure that ended a run. The body of a failed JSON run has the same keys, without `code`.',
    example: "if (event.type === 'chain-error') console.error(event.error.errorCode, event.error.message)",
  })

export const LatitudeEvent = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('chain-started'), ...everyEvent }),
    z.object({ type: z.literal('step-started'), ...everyEvent }),
    z.object({
      type: z.literal('provider-started'),
      ...everyEvent,
      config: JsonObject.meta({ description: 'The configuration of the step.' }),
    }),
    z.object({
      type: z.literal('provider-completed'),
      ...everyEvent,
      response: RunResponse,
      tokenUsage: Usage,
      finishReason: FinishReason,
    }),
    z.object({ type: z.literal('step-completed'), ...everyEvent }),
    z.object({ type: z.literal('tools-requested'), ...everyEvent, tools: z.array(ToolCall) }),
    z.object({
      type: z.literal('chain-completed'),
      ...everyEvent,
      response: RunResponse.exactOptional().meta({ description: 'The response of the last step.' }),
      toolCalls: z.array(ToolCall),
      toolRequests: z.array(ToolCall).meta({ description: 'Tool calls that wait for the caller.' }),
      finishReason: FinishReason,
      tokenUsage: Usage.meta({ description: 'The sum of all steps.' }),
      cost,
    }),
    z.object({
      type: z.literal('chain-error'),
      ...everyEvent,
      error: RunFailure,
      tokenUsage: Usage.meta({ description: 'The sum of the steps so far.' }),
      cost,
    }),
  ])
  .meta({
    id: 'LatitudeEvent',
    description:
      'The data of a `latitude-event`, which reports progress. Every run ends with exactly one `chain-completed` or `chain-error`. Each event contains the whole conversation so far.',
    example: "if (event.type === 'chain-completed') console.log(event.response?.text)",
  })

export const ToolSource = z.enum(['client', 'agentAsTool', 'serverTool'])

const toolCall = { toolCallId: z.string(), toolName: z.string(), args: JsonObject }
const stepEnd = { finishReason: FinishReason, usage: Usage }

export const ProviderEvent = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('start-step'), step: z.int().positive() }),
    z.object({ type: z.literal('reasoning-delta'), id: z.string(), text: z.string() }),
    z.object({ type: z.literal('text-delta'), id: z.string(), textDelta: z.string() }),
    z.object({ type: z.literal('tool-input-start'), id: z.string(), toolName: z.string() }),
    z.object({ type: z.literal('tool-input-delta'), id: z.string(), delta: z.string() }),
    z.object({ type: z.literal('tool-call'), ...toolCall, _sourceData: z.object({ source: ToolSource }) }),
    z.object({ type: z.literal('tool-result'), ...toolCall, result: z.unknown(), isError: z.boolean() }),
    z.object({ type: z.literal('tool-error'), ...toolCall, error: z.string() }),
    z.looseObject({ type: z.literal('source') }),
    z.object({
      type: z.literal('file'),
      url: z.string().meta({ description: 'A URL or a data URL.' }),
      mimeType: z.string(),
    }),
    z.object({ type: z.literal('finish-step'), ...stepEnd }),
    z.object({ type: z.literal('finish'), ...stepEnd }),
    z.object({
      type: z.literal('error'),
      error: z.object({ message: z.string(), status: z.int().exactOptional() }),
    }),
  ])
  .meta({
    id: 'ProviderEvent',
    description: "The data of a `provider-event`: one part of the model's output, without messages.",
    example: "if (event.type === 'text-delta') process.stdout.write(event.textDelta)",
  })

export const RunEvent = z
  .discriminatedUnion('event', [
    z.object({ event: z.literal('latitude-event'), data: LatitudeEvent }),
    z.object({ event: z.literal('provider-event'), data: ProviderEvent }),
  ])
  .meta({
    id: 'RunEvent',
    description: 'One SSE event: its name and its data.',
    example:
      "const frame: RunEvent = { event: 'provider-event', data: { type: 'text-delta', id: 'txt-0', textDelta: 'Hel' } }",
  })
