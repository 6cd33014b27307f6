/** Collects a model call's chunks into a message and shows them as events. A failed call keeps its partial message. */

import type { Message, MessagePart, ToolCall, ToolSource } from '@stet/contract/vocabulary'
import { newToolCallId } from '../../../shared/ids.ts'
import type { Span } from '../../../shared/telemetry.ts'
import { storableText } from '../../../shared/text-guards.ts'
import type { FinishReason, GeneratedFile, ModelChunk, ModelRequest, PartSeal } from '../../providers/model-driver.ts'
import type { ModelPrices } from '../../providers/ports.ts'
import { ProviderError, runErrorOf } from '../../providers/provider-error.ts'
import { type Usage, usageOf, usageOfPart } from '../../providers/usage.ts'
import { append, closeSpan, openSpan, type PartialCall, type RunProgress, spend } from '../events/run-progress.ts'
import type { EndedModelCall } from '../ports.ts'
import type { LastCall, ProviderEvent, RunEvent, ShowEvents } from '../run.ts'
import { type ShowDeps, type ShownCalls, showCalls } from '../tools/answer-calls.ts'
import { endModelSpan, startModelSpan } from './model-span.ts'
import type { RunPlan, StepSetUp } from './run-plan.ts'

export interface ModelCall {
  setUp: StepSetUp
  plan: RunPlan
  progress: RunProgress
  messages: Message[]
  shown: ShownCalls
  callNumber: number
  showEvents: ShowEvents
  signal: AbortSignal
  /** The parent of the call's span. */
  span: Span | undefined
}

/** @throws RunError if the provider failed; the reason of `signal` after an abort; other errors unchanged. */
export async function callModel(deps: ShowDeps, call: ModelCall): Promise<ModelAnswer> {
  const { prompt, provider, model, toolbox, firstSettings } = call.setUp
  const answer = createModelAnswer(call.callNumber, toolbox)
  const { conversationUuid, workspaceId } = call.plan.tools
  const request: ModelRequest = {
    model,
    messages: call.messages,
    settings: (call.progress.facts.modelCalls === 1 && firstSettings) || prompt.settings,
    tools: [...toolbox.values()].map(({ definition }) => definition),
    ...(prompt.schema && { schema: prompt.schema }),
    stream: call.plan.stream,
    maxRetries: prompt.maxRetries,
    signal: call.signal,
    holdAnswer: (bytes) => deps.runs.largeAnswers.hold({ conversationUuid, workspaceId, bytes }, call.signal),
  }
  const span = call.span && startModelSpan(call.span, call)
  if (span) request.traceparent = span.traceparent
  const startedAt = performance.now()
  let firstTextAt: number | undefined
  let firstTokenAt: number | undefined
  const { facts } = call.progress
  const lastCall: LastCall = { provider: provider.name, model, finishReason: null }
  facts.lastCall = lastCall
  const place = openSpan(facts, { kind: 'model', name: model, parent: call.progress.span, at: deps.clock.now() })
  const report = (outcome: EndedModelCall['outcome']) => {
    facts.firstTokenAt ??= firstTokenAt ?? null
    const status = outcome === 'completed' ? 'ok' : outcome === 'aborted' ? 'stopped' : 'error'
    const { usage, price } = answer
    const cost = price.known ? price.cost : undefined
    closeSpan(facts, place, { status, at: deps.clock.now(), firstTokenAt, usage, cost })
    const firstTextSeconds = firstTextAt === undefined ? undefined : (firstTextAt - startedAt) / 1000
    deps.runs.metrics.modelCallEnded({
      ...{ provider: provider.kind, model, outcome, firstTextSeconds },
      seconds: (performance.now() - startedAt) / 1000,
      usage: status === 'ok' ? usage : undefined,
      cost: status === 'ok' ? cost : undefined,
    })
    if (span) endModelSpan(span, { answer, outcome, firstTextSeconds })
  }
  call.progress.underWay = () => partialCall(deps, call, answer)
  try {
    // Shows chunks synchronously when they arrive. Chunks with tool calls are shown after the calls are stored.
    await provider.driver.call(request, (chunks) => {
      const events: RunEvent[] = []
      const known = answer.calls.length
      for (const chunk of chunks) {
        if (request.stream && (chunk.type === 'text-delta' || chunk.type === 'tool-call')) {
          if (chunk.type === 'text-delta') firstTextAt ??= performance.now()
          firstTokenAt ??= deps.clock.now().getTime()
        }
        const event = takeChunk(answer, chunk)
        if (event) events.push({ provider: event })
      }
      const calls = answer.calls.slice(known)
      if (calls.length > 0) {
        return showCalls(deps, call.shown, calls).then(() => {
          call.showEvents(events)
          answer.shownCalls = answer.calls.length
        })
      }
      if (events.length > 0) call.showEvents(events)
      return undefined
    })
  } catch (failure) {
    keepPartial(deps, call, answer)
    report(call.signal.aborted ? 'aborted' : failure instanceof ProviderError ? failure.kind : 'failed')
    if (!(failure instanceof ProviderError)) throw failure
    call.showEvents([{ provider: failureEvent(failure) }])
    throw runErrorOf(failure, model)
  } finally {
    call.progress.underWay = undefined
  }
  const { usage, cacheWriteTokens, servedModel } = answer
  answer.price = provider.prices.costOf({ model, servedModel, usage, cacheWriteTokens, at: deps.clock.now() })
  lastCall.finishReason = answer.finishReason
  report('completed')
  if (answer.message.content.length === 0) answer.message.content.push({ type: 'text', text: '' })
  call.showEvents([{ provider: { type: 'finish-step', finishReason: answer.finishReason, usage: answer.usage } }])
  return answer
}

function keepPartial(deps: ShowDeps, call: ModelCall, answer: ModelAnswer): void {
  const { progress } = call
  const { message, spent } = partialCall(deps, call, answer)
  if (message) append(progress, [message])
  if (!spent) return
  progress.facts.isUsageEstimated ||= spent.isEstimated
  answer.usage = spent.tokenUsage
  answer.price = { cost: spent.cost, known: !spent.costUnknown }
  spend(progress, undefined, spent)
}

/** Providers charge for an answer that they began, even if the call fails or is aborted. Most have not counted it yet. */
function partialCall(deps: ShowDeps, { setUp, messages }: ModelCall, answer: ModelAnswer): PartialCall {
  const message = partialMessage(answer)
  if (!answer.hasBegun) return { message, spent: undefined }
  const { cacheWriteTokens, servedModel, toolInputLength, text, reasoning } = answer
  let input = 0
  for (const { content } of messages) for (const part of content) if (part.type === 'text') input += part.text.length
  const output = text.length + reasoning.length + toolInputLength
  const { usage, isEstimated } = usageOfPart(answer.usage, { input, output })
  const { provider, model } = setUp
  const { cost, known } = provider.prices.costOf({ model, servedModel, usage, cacheWriteTokens, at: deps.clock.now() })
  return { message, spent: { tokenUsage: usage, cost, costUnknown: !known, isEstimated } }
}

/** An invalid tool call. The model receives `reason`. */
export interface FaultyCall extends ToolCall {
  reason: string
}

export interface ModelAnswer {
  /** The model call's index within its step. The ids of text and reasoning parts contain this index. */
  readonly callNumber: number
  readonly tools: ReadonlyMap<string, { source: ToolSource }>
  readonly message: Message
  text: string
  reasoning: string
  /** The characters of the pieces of tool inputs. */
  toolInputLength: number
  /** True once the provider has begun to answer with success. */
  hasBegun: boolean
  readonly calls: ToolCall[]
  /** The number of `calls` that readers have seen. */
  shownCalls: number
  readonly faultyCalls: FaultyCall[]
  /** Maps provider ids to wire ids, which are unique on the server. Provider ids may repeat within one response. */
  readonly toolIds: Map<string, string>
  finishReason: FinishReason
  usage: Usage
  cacheWriteTokens: number
  /** The model behind a deployment, as named in the response. Undefined without deployments or without a name. */
  servedModel: string | undefined
  price: ReturnType<ModelPrices['costOf']>
}

export function createModelAnswer(callNumber: number, tools: ModelAnswer['tools']): ModelAnswer {
  return {
    callNumber,
    tools,
    message: { role: 'assistant', content: [] },
    text: '',
    reasoning: '',
    toolInputLength: 0,
    hasBegun: false,
    calls: [],
    shownCalls: 0,
    faultyCalls: [],
    toolIds: new Map(),
    finishReason: 'unknown',
    usage: usageOf({}),
    cacheWriteTokens: 0,
    servedModel: undefined,
    price: { cost: 0, known: false },
  }
}

/** @returns the event that shows the chunk, if any. */
export function takeChunk(answer: ModelAnswer, chunk: ModelChunk): ProviderEvent | undefined {
  const parts = answer.message.content
  answer.hasBegun = true
  switch (chunk.type) {
    case 'text-delta': {
      const last = parts.at(-1)
      answer.text += chunk.text
      if (last?.type === 'text') last.text += chunk.text
      else parts.push({ type: 'text', text: chunk.text })
      return { type: 'text-delta', id: `txt-${answer.callNumber}`, textDelta: chunk.text }
    }
    case 'reasoning-delta': {
      const id = chunk.id ?? `rsn-${answer.callNumber}`
      answer.reasoning += chunk.text
      growReasoning(parts, id, chunk.text)
      return { type: 'reasoning-delta', id, text: chunk.text }
    }
    case 'reasoning-end':
      sealReasoning(parts, chunk.id ?? `rsn-${answer.callNumber}`, chunk.seal)
      return undefined
    case 'redacted-reasoning':
      parts.push({ ...chunk })
      return undefined
    case 'tool-input-start':
      return { type: 'tool-input-start', id: toolIdOf(answer, chunk.id), toolName: storableText(chunk.toolName) }
    case 'tool-input-delta':
      answer.toolInputLength += chunk.delta.length
      return { type: 'tool-input-delta', id: toolIdOf(answer, chunk.id), delta: chunk.delta }
    case 'tool-call':
      return takeCall(answer, chunk)
    case 'source':
      return { ...chunk.payload, type: 'source' }
    case 'file': {
      const { url, mimeType } = chunk
      parts.push(filePart({ url, mimeType }))
      return { type: 'file', url, mimeType }
    }
    case 'finish':
    case 'usage':
      if (chunk.type === 'finish') answer.finishReason = chunk.finishReason
      answer.usage = chunk.usage
      answer.cacheWriteTokens = chunk.cacheWriteTokens ?? 0
      answer.servedModel = chunk.servedModel
      return undefined
  }
}

/** Returns what arrived before a failure, if anything did. Of the calls, only those that a reader may answer later. */
export function partialMessage({ message, calls, shownCalls }: ModelAnswer): Message | undefined {
  const shown = new Set(calls.slice(0, shownCalls).map(({ id }) => id))
  const content = message.content.filter((part) => part.type !== 'tool-call' || shown.has(part.toolCallId))
  return content.length > 0 ? { role: 'assistant', content } : undefined
}

function toolIdOf({ toolIds }: ModelAnswer, providerId: string): string {
  const id = toolIds.get(providerId) ?? newToolCallId()
  toolIds.set(providerId, id)
  return id
}

type ToolCallChunk = Extract<ModelChunk, { type: 'tool-call' }>

function takeCall(answer: ModelAnswer, chunk: ToolCallChunk): ProviderEvent {
  const known = toolIdOf(answer, chunk.id)
  // A repeated provider id gets a new wire id, so that both calls stay separate.
  const id = [...answer.calls, ...answer.faultyCalls].some((call) => call.id === known) ? newToolCallId() : known
  const source = answer.tools.get(chunk.toolName)?.source
  const { args = {} } = chunk
  const toolName = storableText(chunk.toolName)
  answer.message.content.push({ type: 'tool-call', toolCallId: id, toolName, args, ...chunk.seal })
  const call = { id, name: toolName, arguments: args }
  const shown = { toolCallId: id, toolName, args }
  if (source === undefined || chunk.args === undefined) {
    const reason = source === undefined ? `There is no tool '${toolName}'` : 'The arguments are not a JSON object'
    answer.faultyCalls.push({ ...call, reason })
    return { type: 'tool-error', ...shown, error: reason }
  }
  answer.calls.push(call)
  return { type: 'tool-call', ...shown, _sourceData: { source } }
}

function filePart({ url, mimeType }: GeneratedFile): MessagePart {
  return mimeType.startsWith('image/') ? { type: 'image', image: url, mimeType } : { type: 'file', file: url, mimeType }
}

function growReasoning(parts: MessagePart[], id: string, text: string): void {
  const last = parts.at(-1)
  if (last?.type === 'reasoning' && last.id === id && !('provider' in last)) last.text += text
  else parts.push({ type: 'reasoning', text, id })
}

// A seal covers one reasoning part. Later text starts another part, even with the same id.
function sealReasoning(parts: MessagePart[], id: string, seal: PartSeal): void {
  const last = parts.at(-1)
  if (last?.type === 'reasoning' && last.id === id && !('provider' in last)) Object.assign(last, seal)
  else parts.push({ type: 'reasoning', text: '', id, ...seal })
}

function failureEvent(failure: ProviderError): ProviderEvent {
  const { message, status } = failure
  return { type: 'error', error: status === undefined ? { message } : { message, status } }
}
