/** The span of a model call, following OpenTelemetry's conventions for generative AI. Used only for traced runs. */

import type { Message, MessagePart } from '@stet/contract/vocabulary'
import type { Span, SpanAttributes } from '../../../shared/telemetry.ts'
import type { FinishReason } from '../../providers/model-driver.ts'
import type { ModelPrices } from '../../providers/ports.ts'
import type { Usage } from '../../providers/usage.ts'
import type { EndedModelCall } from '../ports.ts'
import { promptAttributes, type RunPlan, type StepSetUp } from './run-plan.ts'

/** The provider types whose names differ in the conventions. */
const providerNames = new Map([
  ['amazon_bedrock', 'aws.bedrock'],
  ['anthropic_vertex', 'gcp.vertex_ai'],
  ['azure', 'azure.ai.openai'],
  ['google', 'gcp.gemini'],
  ['google_vertex', 'gcp.vertex_ai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
])

interface TracedCall {
  setUp: StepSetUp
  plan: RunPlan
  messages: Message[]
}

interface TracedAnswer {
  message: Message
  usage: Usage
  cacheWriteTokens: number
  finishReason: FinishReason
  servedModel: string | undefined
  price: ReturnType<ModelPrices['costOf']>
}

export function startModelSpan(parent: Span, call: TracedCall): Span {
  const { provider, model, prompt } = call.setUp
  const { temperature, topP, maxTokens } = prompt.settings
  const span = parent.child(
    `chat ${model}`,
    {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerNames.get(provider.kind) ?? provider.kind,
      'gen_ai.request.model': model,
      'gen_ai.request.temperature': asNumber(temperature),
      'gen_ai.request.top_p': asNumber(topP),
      'gen_ai.request.max_tokens': asNumber(maxTokens),
      'gen_ai.output.type': prompt.schema ? 'json' : 'text',
      'gen_ai.conversation.id': call.plan.tools.conversationUuid,
      'stet.provider_key': provider.name,
      ...promptAttributes(call.plan),
      'stet.stream': call.plan.stream,
    },
    'client',
  )
  span.setContent(() => ({ 'gen_ai.input.messages': messagesJson(call.messages) }))
  return span
}

interface ModelCallEnd {
  answer: TracedAnswer
  outcome: EndedModelCall['outcome']
  firstTextSeconds: number | undefined
}

export function endModelSpan(span: Span, { answer, outcome, firstTextSeconds }: ModelCallEnd): void {
  if (outcome === 'completed') span.set(answerAttributes(answer))
  if (firstTextSeconds !== undefined) span.set({ 'gen_ai.response.time_to_first_chunk': firstTextSeconds })
  span.setContent(() => ({ 'gen_ai.output.messages': messagesJson([answer.message]) }))
  span.end(outcome === 'completed' ? undefined : outcome)
}

function answerAttributes({ usage, cacheWriteTokens, finishReason, servedModel, price }: TracedAnswer): SpanAttributes {
  return {
    'gen_ai.response.finish_reasons': [finishReason],
    'gen_ai.response.model': servedModel,
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens || undefined,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens || undefined,
    // The conventions renamed `cache_creation` to `cache_write`.
    'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens || undefined,
    'gen_ai.usage.cache_write.input_tokens': cacheWriteTokens || undefined,
    'stet.cost_usd': price.known ? price.cost : undefined,
  }
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function messagesJson(messages: readonly Message[]): string {
  return JSON.stringify(messages.map(({ role, content }) => ({ role, parts: content.map(partOf) })))
}

// Omits the content of files, because it is large.
function partOf(part: MessagePart): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', content: part.text }
    case 'reasoning':
      return { type: 'reasoning', content: part.text }
    case 'tool-call':
      return { type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: part.args }
    case 'tool-result':
      return { type: 'tool_call_response', id: part.toolCallId, response: part.result }
    default:
      return { type: part.type }
  }
}
