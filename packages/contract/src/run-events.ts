import { z } from 'zod'
import { JsonObject, Uuid } from './common.ts'
import { RunErrorCode } from './errors.ts'
import { Message, ToolCall } from './messages.ts'
import { FinishReason, RunResponse, RunSource, Usage } from './run-result.ts'

const cost = z.number().nonnegative()

/** What every event of the run carries. Clients overwrite what they hold with each one, so nothing may be missing. */
const everyEvent = {
  timestamp: z.int().meta({ description: 'Epoch milliseconds.' }),
  uuid: Uuid.meta({ description: 'The conversation.' }),
  messages: z.array(Message).meta({ description: 'The whole conversation so far.' }),
  providerLogUuid: z.literal(''),
  source: RunSource,
}

/**
 * Why the run failed, in the words of the JSON error of the same failure.
 *
 * @example
 * { "name": "DocumentRunError", "errorCode": "ai_run_error", "code": "ai_run_error", "message": "…", "details": {…} }
 */
export const RunFailure = z
  .object({
    name: z.literal('DocumentRunError'),
    message: z.string(),
    errorCode: RunErrorCode,
    code: RunErrorCode.meta({ description: 'The same as `errorCode`.' }),
    details: z.looseObject({ errorCode: RunErrorCode }),
  })
  .meta({ id: 'RunFailure' })
export type RunFailure = z.infer<typeof RunFailure>

/**
 * The data of a `latitude-event`: the course of the run. `chain-completed` and `chain-error` are terminal; every run
 * has exactly one of them, as its last event.
 *
 * @example
 * if (event.type === 'chain-error') throw new Error(event.error.message)
 */
export const LatitudeEvent = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('chain-started'), ...everyEvent }),
    z.object({ type: z.literal('step-started'), ...everyEvent }),
    z.object({
      type: z.literal('provider-started'),
      ...everyEvent,
      config: JsonObject.meta({ description: 'The configuration that the step runs with.' }),
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
      response: RunResponse.exactOptional().meta({ description: 'Of the last step.' }),
      toolCalls: z.array(ToolCall),
      toolRequests: z.array(ToolCall).meta({ description: 'Calls that wait for the caller.' }),
      finishReason: FinishReason,
      tokenUsage: Usage.meta({ description: 'The sum of all steps.' }),
      cost,
    }),
    z.object({
      type: z.literal('chain-error'),
      ...everyEvent,
      error: RunFailure,
      tokenUsage: Usage.meta({ description: 'So far.' }),
      cost,
    }),
  ])
  .meta({ id: 'LatitudeEvent', description: 'The course of a run. Each event carries the whole conversation so far.' })
export type LatitudeEvent = z.infer<typeof LatitudeEvent>

/** Who runs a tool that the model calls. */
export const ToolSource = z.enum(['client', 'agentAsTool', 'serverTool'])
export type ToolSource = z.infer<typeof ToolSource>

const toolCall = { toolCallId: z.string(), toolName: z.string(), args: JsonObject }
const stepEnd = { finishReason: FinishReason, usage: Usage }

/**
 * The data of a `provider-event`: the stream of the model, part by part.
 *
 * @example
 * if (event.type === 'text-delta') process.stdout.write(event.textDelta)
 */
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
      url: z.string().meta({ description: 'An address, or a data URL.' }),
      mimeType: z.string(),
    }),
    z.object({ type: z.literal('finish-step'), ...stepEnd }),
    z.object({ type: z.literal('finish'), ...stepEnd }),
    z.object({
      type: z.literal('error'),
      error: z.object({ message: z.string(), status: z.int().exactOptional() }),
    }),
  ])
  .meta({ id: 'ProviderEvent', description: 'The stream of the model. Small: it carries no messages.' })
export type ProviderEvent = z.infer<typeof ProviderEvent>

/**
 * One event of the stream: the name of the SSE event and its data.
 *
 * @example
 * const frame: RunEvent = { event: 'provider-event', data: { type: 'text-delta', id: 'txt-0', textDelta: 'Hel' } }
 */
export const RunEvent = z
  .discriminatedUnion('event', [
    z.object({ event: z.literal('latitude-event'), data: LatitudeEvent }),
    z.object({ event: z.literal('provider-event'), data: ProviderEvent }),
  ])
  .meta({ id: 'RunEvent' })
export type RunEvent = z.infer<typeof RunEvent>
