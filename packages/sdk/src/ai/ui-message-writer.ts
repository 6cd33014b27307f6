import type { LatitudeEventData, Message, ProviderEventData, StreamEvent } from '../index.ts'
import { figures } from '../views/page-events.ts'

/** One chunk of the AI SDK's UI message protocol. */
export type UIMessageChunk = { type: string; [key: string]: unknown }

type Chunks = Generator<UIMessageChunk, void>
type Completed = Extract<LatitudeEventData, { type: 'chain-completed' }>
type ToolEnd = Extract<ProviderEventData, { type: 'tool-result' | 'tool-error' }>

export class UIMessageWriter {
  #hasStarted = false
  #isInStep = false
  /** The protocol requires an explicit end for each text or reasoning part. */
  #part: { kind: 'text' | 'reasoning'; id: string } | undefined
  /** The ids of tool calls that the page received and that have no result yet. */
  readonly #calls = new Set<string>()
  #completed: Completed | undefined;

  *write({ event, data }: StreamEvent): Chunks {
    if (event === 'provider-event') return yield* this.#provider(data)
    yield* this.start(data.uuid)
    // With `toolMode: 'turns'`, tool results arrive only in the messages of the next round.
    if (data.type === 'chain-started') yield* this.#results(data.messages)
    if (data.type === 'chain-completed') this.#completed = data
  }

  *start(conversationUuid: string | undefined): Chunks {
    if (this.#hasStarted) return
    this.#hasStarted = true
    yield { type: 'start', messageMetadata: { conversationUuid } }
  }

  *end(): Chunks {
    yield* this.close()
    const { uuid: conversationUuid, finishReason, tokenUsage } = this.#completed ?? {}
    const usage = tokenUsage && figures(tokenUsage)
    yield { type: 'finish', messageMetadata: { conversationUuid, finishReason, usage } }
  }

  *close(): Chunks {
    yield* this.#endPart()
    if (this.#isInStep) yield { type: 'finish-step' }
    this.#isInStep = false
  }

  *#provider(data: ProviderEventData): Chunks {
    switch (data.type) {
      case 'start-step':
        yield* this.close()
        this.#isInStep = true
        return yield { type: 'start-step' }
      case 'text-delta':
        yield* this.#startPart('text', data.id)
        return yield { type: 'text-delta', id: data.id, delta: data.textDelta }
      case 'reasoning-delta':
        yield* this.#startPart('reasoning', data.id)
        return yield { type: 'reasoning-delta', id: data.id, delta: data.text }
      case 'tool-input-start':
        yield* this.#endPart()
        return yield { type: 'tool-input-start', toolCallId: data.id, toolName: data.toolName }
      case 'tool-input-delta':
        return yield { type: 'tool-input-delta', toolCallId: data.id, inputTextDelta: data.delta }
      case 'tool-call':
        yield* this.#endPart()
        return yield* this.#call(data)
      case 'tool-result':
      case 'tool-error':
        return yield* this.#toolEnd(data)
      case 'source':
        return yield* source(data)
      case 'file':
        return yield { type: 'file', url: data.url, mediaType: data.mimeType }
    }
  }

  *#call({ toolCallId, toolName, args, _sourceData }: Extract<ProviderEventData, { type: 'tool-call' }>): Chunks {
    this.#calls.add(toolCallId)
    // `providerExecuted` prevents the page from executing tool calls that the server handles.
    const isServers = (_sourceData?.source ?? 'client') !== 'client'
    yield {
      type: 'tool-input-available',
      toolCallId,
      toolName,
      input: args,
      ...(isServers && { providerExecuted: true }),
    }
  }

  *#toolEnd(data: ToolEnd): Chunks {
    const { toolCallId, toolName, args } = data
    const isKnown = this.#calls.delete(toolCallId)
    if (data.type === 'tool-result' && !data.isError) {
      return yield { type: 'tool-output-available', toolCallId, output: data.result }
    }
    const errorText = textOf(data.type === 'tool-error' ? data.error : data.result)
    if (isKnown) yield { type: 'tool-output-error', toolCallId, errorText }
    // A call with invalid JSON arguments was never sent to the page, so the failure is reported as an input error.
    else yield { type: 'tool-input-error', toolCallId, toolName, input: args, errorText }
  }

  *#results(messages: readonly Message[]): Chunks {
    for (const part of messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))) {
      if (part.type !== 'tool-result' || !this.#calls.delete(part.toolCallId)) continue
      const { toolCallId, result } = part
      if (part.isError) yield { type: 'tool-output-error', toolCallId, errorText: textOf(result) }
      else yield { type: 'tool-output-available', toolCallId, output: result }
    }
  }

  *#startPart(kind: 'text' | 'reasoning', id: string): Chunks {
    if (this.#part?.kind === kind && this.#part.id === id) return
    yield* this.#endPart()
    this.#part = { kind, id }
    yield { type: `${kind}-start`, id }
  }

  *#endPart(): Chunks {
    if (this.#part) yield { type: `${this.#part.kind}-end`, id: this.#part.id }
    this.#part = undefined
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

// Providers define the shape of a source. A source without a URL is skipped.
function* source({ id, url, title }: Record<string, unknown>): Chunks {
  if (typeof url !== 'string') return
  yield { type: 'source-url', sourceId: String(id ?? url), url, ...(typeof title === 'string' && { title }) }
}
