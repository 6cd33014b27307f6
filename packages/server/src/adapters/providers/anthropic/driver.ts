/** The driver for Anthropic's Messages API. Only the types of the vendor's package are used (ADR 38). */
import type Anthropic from '@anthropic-ai/sdk'
import { defined } from '@stet/template/defined'
import type { ModelDriver, ModelRequest, ProviderSettings } from '../../../features/providers/model-driver.ts'
import { asNumber, asObject, type Json } from '../json.ts'
import { type CallDeps, protocolDriver } from '../protocol-driver.ts'
import {
  keys,
  parallelCallsOf,
  requestHeaders,
  type SettingRules,
  settingsBody,
  tokenLimit,
  toolChoiceOf,
} from '../request/body.ts'
import { MessageReader } from './answer.ts'
import { answerInstruction, answerTool, answerToolName, anthropicMessages, markOf } from './messages.ts'

export type AnthropicBody = Anthropic.MessageCreateParams

export function anthropicDriver(deps: CallDeps, provider: ProviderSettings): ModelDriver {
  return protocolDriver(deps, provider, {
    build: async (request) => ({
      url: messagesUrl(provider.url ?? 'https://api.anthropic.com'),
      headers: requestHeaders(
        provider,
        request,
        { 'x-api-key': provider.token },
        { 'anthropic-version': '2023-06-01' },
      ),
      body: JSON.stringify(anthropicBody(provider, request)),
    }),
    readerOf: (request) => new MessageReader(provider, request),
  })
}

/** Accepts base URLs with and without `/v1`. */
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

/** Drops `temperature` and `top_k`, because the API rejects these settings in calls with thinking. */
const thinkingRules = { ...rules, dropped: new Set([...rules.dropped, 'temperature', 'topK', 'top_k']) }

/** The API requires an output limit. Older models reject limits above these. */
const defaultLimits = [
  [/claude-(3-(opus|sonnet|haiku)|2|instant)/, 4_096],
  [/claude-3-5/, 8_192],
] as const

/** @throws ProviderError `unsupported` for a part that the protocol cannot represent. */
export function anthropicBody(provider: ProviderSettings, request: ModelRequest): AnthropicBody {
  const { model, settings, stream, schema } = request
  const thinking = thinkingOf(settings)
  const thinkingKeys: object = thinking ? { thinking } : {}
  const isThinking = thinking !== undefined && thinking['type'] !== 'disabled'
  const { system, messages } = anthropicMessages(provider, request.messages)
  if (schema && isThinking) system.push(answerInstruction)
  return {
    ...settingsBody(provider, settings, isThinking ? thinkingRules : rules),
    ...stopOf(settings),
    ...effortOf(settings),
    ...markOf(settings),
    ...thinkingKeys,
    ...toolsOf(request, isThinking),
    ...(system.length > 0 ? { system } : {}),
    ...(stream ? { stream: true } : {}),
    max_tokens: limitOf(model, settings, isThinking ? (asNumber(thinking['budget_tokens']) ?? 0) : 0),
    model,
    messages,
  }
}

/** Thinking counts as output, so the limit must exceed the thinking budget. */
function limitOf(model: string, settings: Json, budget: number): number {
  const limit = tokenLimit(settings) ?? defaultLimits.find(([pattern]) => pattern.test(model))?.[1] ?? 16_384
  return limit > budget ? limit : limit + budget
}

function thinkingOf(settings: Json): Json | undefined {
  const options = asObject(asObject(settings['providerOptions'])['anthropic'])
  const { budgetTokens, ...thinking } = asObject(options['thinking'] ?? settings['thinking'])
  if (budgetTokens !== undefined) thinking['budget_tokens'] ??= budgetTokens
  return typeof thinking['type'] === 'string' ? thinking : undefined
}

function stopOf(settings: Json): object {
  const stop = settings['stopSequences'] ?? settings['stop']
  return stop === undefined ? {} : { stop_sequences: [stop].flat() }
}

function effortOf(settings: Json): object {
  const config = { ...asObject(settings['output_config']), ...defined({ effort: settings['reasoningEffort'] }) }
  return Object.keys(config).length > 0 ? { output_config: config } : {}
}

/** Forces a tool call for a structured answer. With thinking, a system text asks for the call instead. */
function toolsOf({ tools, schema, settings }: ModelRequest, isThinking: boolean): object {
  const offered = tools.map(
    ({ name, description, parameters }): Anthropic.Tool =>
      defined({ name, input_schema: { ...parameters, type: 'object' as const }, description }),
  )
  if (schema) offered.push(answerTool(schema))
  if (offered.length === 0) return {}
  const isForced = schema !== undefined && !isThinking
  const choice = isForced ? (tools.length === 0 ? { name: answerToolName } : 'required') : toolChoiceOf(settings)
  const isSingle = parallelCallsOf(settings) === false && choice !== 'none'
  if (choice === undefined && !isSingle) return { tools: offered }
  const type = choice === 'required' ? 'any' : (choice ?? 'auto')
  const tool_choice = typeof type === 'string' ? { type } : { type: 'tool', ...type }
  return { tools: offered, tool_choice: { ...tool_choice, ...(isSingle ? { disable_parallel_tool_use: true } : {}) } }
}
