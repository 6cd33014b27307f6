/** The driver for Anthropic's Messages API. Only the types of the vendor's package are used (ADR 11). */
import type Anthropic from '@anthropic-ai/sdk'
import type {
  ModelDriver,
  ModelRequest,
  ProviderSettings,
  ToolDefinition,
} from '../../../features/providers/model-driver.ts'
import { asNumber, asObject } from '../json.ts'
import { type CallDeps, protocolDriver } from '../protocol-driver.ts'
import { keys, requestHeaders, type SettingRules, settingsBody, tokenLimit } from '../request/settings.ts'
import { parallelCallsOf, toolChoiceOf } from '../request/tools.ts'
import { messageReader, plainMessage } from './answer.ts'
import { anthropicMessages, cacheMark } from './messages.ts'
import { answerInstruction, answerTool, answerToolName } from './structured.ts'

export type AnthropicBody = Anthropic.MessageCreateParams

const apiVersion = '2023-06-01'
const ownAddress = 'https://api.anthropic.com'

export function anthropicDriver(deps: CallDeps, provider: ProviderSettings): ModelDriver {
  return protocolDriver(deps, provider, {
    build: async (request) => ({
      url: messagesUrl(provider.url ?? ownAddress),
      headers: requestHeaders(provider, request, { 'x-api-key': provider.token }, { 'anthropic-version': apiVersion }),
      body: JSON.stringify(anthropicBody(provider, request)),
    }),
    readerOf: ({ schema }) => messageReader(provider, schema),
    readPlain: (body, { schema }) => plainMessage(body, provider, schema),
  })
}

/** Accepts base URLs with and without the version. */
export function messagesUrl(base: string): URL {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '')}/v1/messages`
  return url
}

const rules: SettingRules = {
  names: { topP: 'top_p', topK: 'top_k' },
  dropped: keys(
    'presencePenalty frequencyPenalty seed stop stopSequences stop_sequences thinking thinkingConfig safetySettings ' +
      'cacheControl cache_control reasoningEffort reasoningSummary output_config system',
  ),
}

/** The API rejects these with thinking. A prompt written for several vendors may contain both. */
const notWithThinking = ['temperature', 'top_k']

/** The API requires a limit. Older models reject higher values. */
const defaultLimits = [
  [/claude-(3-(opus|sonnet|haiku)|2|instant)/, 4_096],
  [/claude-3-5/, 8_192],
] as const
const defaultLimit = 16_384

/** @throws ProviderError `unsupported` for a part that the protocol cannot represent. */
export function anthropicBody(provider: ProviderSettings, request: ModelRequest): AnthropicBody {
  const { model, settings, stream, schema } = request
  const thinking = thinkingOf(settings)
  const isThinking = thinking !== undefined && thinking['type'] !== 'disabled'
  const conversation = anthropicMessages(provider, request.messages)
  const instruction = schema && isThinking ? [answerInstruction] : []
  const system = [...conversation.system, ...instruction]
  const sampled = Object.entries(settingsBody(provider, settings, rules)).filter(
    ([key]) => !isThinking || !notWithThinking.includes(key),
  )
  const cache = cacheMark(settings)
  const body: Record<string, unknown> = {
    ...Object.fromEntries(sampled),
    ...stopOf(settings),
    ...effortOf(settings),
    ...(cache ? { cache_control: cache } : {}),
    ...(thinking ? { thinking } : {}),
    ...toolsOf(request, isThinking),
    ...(system.length > 0 ? { system } : {}),
    ...(stream ? { stream: true } : {}),
    max_tokens: limitOf(model, settings, isThinking ? (asNumber(thinking['budget_tokens']) ?? 0) : 0),
    model,
    messages: conversation.messages,
  }
  // Unknown settings pass through, so only the body's fixed keys are typed.
  return body as unknown as AnthropicBody
}

/** Thinking counts as output, so the limit must exceed its budget. */
function limitOf(model: string, settings: Record<string, unknown>, budget: number): number {
  const limit = tokenLimit(settings) ?? defaultLimits.find(([pattern]) => pattern.test(model))?.[1] ?? defaultLimit
  return limit > budget ? limit : limit + budget
}

function thinkingOf(settings: Record<string, unknown>): Record<string, unknown> | undefined {
  const options = asObject(asObject(settings['providerOptions'])['anthropic'])
  const { budgetTokens, ...thinking } = asObject(options['thinking'] ?? settings['thinking'])
  if (budgetTokens !== undefined) thinking['budget_tokens'] ??= budgetTokens
  return typeof thinking['type'] === 'string' ? thinking : undefined
}

function stopOf(settings: Record<string, unknown>): Record<string, unknown> {
  const stop = settings['stopSequences'] ?? settings['stop']
  if (stop === undefined) return {}
  return { stop_sequences: Array.isArray(stop) ? stop : [stop] }
}

function effortOf(settings: Record<string, unknown>): Record<string, unknown> {
  const { reasoningEffort: effort } = settings
  const config = { ...asObject(settings['output_config']), ...(effort === undefined ? {} : { effort }) }
  return Object.keys(config).length > 0 ? { output_config: config } : {}
}

/** A structured answer is a forced tool call. Thinking models cannot be forced, so a system text requests it. */
function toolsOf({ tools, schema, settings }: ModelRequest, isThinking: boolean): Record<string, unknown> {
  const offered = [...tools.map(toolOf), ...(schema ? [answerTool(schema)] : [])]
  if (offered.length === 0) return {}
  const isForced = schema !== undefined && !isThinking
  const choice = isForced ? (tools.length === 0 ? { name: answerToolName } : 'required') : toolChoiceOf(settings)
  const isSingle = parallelCallsOf(settings) === false && choice !== 'none'
  if (choice === undefined && !isSingle) return { tools: offered }
  const type = choice === 'required' ? 'any' : (choice ?? 'auto')
  const tool_choice = typeof type === 'string' ? { type } : { type: 'tool', ...type }
  return { tools: offered, tool_choice: { ...tool_choice, ...(isSingle ? { disable_parallel_tool_use: true } : {}) } }
}

function toolOf({ name, description, parameters }: ToolDefinition): Anthropic.Tool {
  const input_schema = { ...parameters, type: 'object' as const }
  return { name, input_schema, ...(description === undefined ? {} : { description }) }
}
