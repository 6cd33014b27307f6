/** Gathers the chunks of one model call into an assistant message, and turns each chunk into the event that shows it. */
import { newToolCallId } from '../../../shared/ids.ts'
import { storableText } from '../../../shared/storable-json.ts'
import type { FinishReason, GeneratedFile, ModelChunk, PartSeal } from '../../providers/model-driver.ts'
import { type Usage, usageOf } from '../../providers/usage.ts'
import type { Message, MessagePart, ToolCall } from '../../templates/message.ts'
import type { ProviderEvent, ToolSource } from '../run-event.ts'

/** A call that cannot be made: `reason` goes back to the model. */
export interface FaultyCall extends ToolCall {
  reason: string
}

interface Gathered {
  text: string
  reasoning: string
  calls: ToolCall[]
  faultyCalls: FaultyCall[]
  finishReason: FinishReason
  usage: Usage
  /** Tokens of the input that were written to the provider's cache. */
  cacheWriteTokens: number
  /** What answered, where that is not the name that was asked for. */
  servedModel: string | undefined
}

export interface ModelAnswer extends Readonly<Gathered> {
  /** The event that shows the chunk; undefined for what is kept without being shown. */
  take(chunk: ModelChunk): ProviderEvent | undefined
  /** The whole answer. */
  message(): Message
  /** Text, reasoning and files that arrived before a failure; undefined when there was none. */
  partialMessage(): Message | undefined
}

/**
 * @param turn number of the model call within its step, from 0; it names the parts.
 * @param tools those that the model was offered, by name.
 */
export function createModelAnswer(turn: number, tools: ReadonlyMap<string, { source: ToolSource }>): ModelAnswer {
  const parts: MessagePart[] = []
  const ids = createToolIds()
  const own: Gathered = {
    text: '',
    reasoning: '',
    calls: [],
    faultyCalls: [],
    finishReason: 'unknown',
    usage: usageOf({}),
    cacheWriteTokens: 0,
    servedModel: undefined,
  }

  const take = (chunk: ModelChunk): ProviderEvent | undefined => {
    switch (chunk.type) {
      case 'text-delta':
        own.text += chunk.text
        growText(parts, chunk.text)
        return { type: 'text-delta', id: `txt-${turn}`, textDelta: chunk.text }
      case 'reasoning-delta': {
        const id = chunk.id ?? `rsn-${turn}`
        own.reasoning += chunk.text
        growReasoning(parts, id, chunk.text)
        return { type: 'reasoning-delta', id, text: chunk.text }
      }
      case 'reasoning-end':
        sealReasoning(parts, chunk.id ?? `rsn-${turn}`, chunk.seal)
        return undefined
      case 'redacted-reasoning':
        parts.push({ ...chunk })
        return undefined
      case 'tool-input-start':
        return { type: 'tool-input-start', id: ids.of(chunk.id), toolName: storableText(chunk.toolName) }
      case 'tool-input-delta':
        return { type: 'tool-input-delta', id: ids.of(chunk.id), delta: chunk.delta }
      case 'tool-call':
        return takeCall(own, parts, { chunk, id: ids.ofCall(chunk.id), source: tools.get(chunk.toolName)?.source })
      case 'source':
        return { ...chunk.payload, type: 'source' }
      case 'file': {
        const { url, mimeType } = chunk
        parts.push(filePart({ url, mimeType }))
        return { type: 'file', url, mimeType }
      }
      case 'finish':
        own.finishReason = chunk.finishReason
        own.usage = chunk.usage
        own.cacheWriteTokens = chunk.cacheWriteTokens ?? 0
        own.servedModel = chunk.servedModel
        return undefined
    }
  }

  return Object.assign(own, {
    take,
    message: (): Message => ({
      role: 'assistant',
      content: parts.length > 0 ? parts : [{ type: 'text', text: '' }],
    }),
    partialMessage(): Message | undefined {
      const kept = parts.filter((part) => part.type !== 'tool-call')
      return kept.length > 0 ? { role: 'assistant', content: kept } : undefined
    },
  })
}

// Ids on the wire are stet's own, unique over the server; a provider's are unique within one answer at best.
function createToolIds(): { of(providerId: string): string; ofCall(providerId: string): string } {
  const ids = new Map<string, string>()
  const called = new Set<string>()
  const of = (providerId: string) => {
    const id = ids.get(providerId) ?? newToolCallId()
    ids.set(providerId, id)
    return id
  }
  return {
    of,
    // A provider that gives one id to two calls of an answer does not make them one.
    ofCall(providerId) {
      const id = called.has(of(providerId)) ? newToolCallId() : of(providerId)
      called.add(id)
      return id
    },
  }
}

type ToolCallChunk = Extract<ModelChunk, { type: 'tool-call' }>

function takeCall(
  own: Gathered,
  parts: MessagePart[],
  { chunk, id, source }: { chunk: ToolCallChunk; id: string; source: ToolSource | undefined },
): ProviderEvent {
  const { args = {} } = chunk
  const toolName = storableText(chunk.toolName)
  parts.push({ type: 'tool-call', toolCallId: id, toolName, args, ...chunk.seal })
  const call = { id, name: toolName, arguments: args }
  const shown = { toolCallId: id, toolName, args }
  if (source === undefined || chunk.args === undefined) {
    const reason = source === undefined ? `There is no tool '${toolName}'` : 'The arguments are not a JSON object'
    own.faultyCalls.push({ ...call, reason })
    return { type: 'tool-error', ...shown, error: reason }
  }
  own.calls.push(call)
  return { type: 'tool-call', ...shown, _sourceData: { source } }
}

function filePart({ url, mimeType }: GeneratedFile): MessagePart {
  return mimeType.startsWith('image/') ? { type: 'image', image: url, mimeType } : { type: 'file', file: url, mimeType }
}

function growText(parts: MessagePart[], text: string): void {
  const last = parts.at(-1)
  if (last?.type === 'text') last.text += text
  else parts.push({ type: 'text', text })
}

function growReasoning(parts: MessagePart[], id: string, text: string): void {
  const last = parts.at(-1)
  if (last?.type === 'reasoning' && last.id === id && !('provider' in last)) last.text += text
  else parts.push({ type: 'reasoning', text, id })
}

// A seal covers one stretch of reasoning: what follows is a part of its own, even under the same id.
function sealReasoning(parts: MessagePart[], id: string, seal: PartSeal): void {
  const last = parts.at(-1)
  if (last?.type === 'reasoning' && last.id === id && !('provider' in last)) Object.assign(last, seal)
  else parts.push({ type: 'reasoning', text: '', id, ...seal })
}
