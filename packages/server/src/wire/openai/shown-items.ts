/**
 * What a caller of this door sees of a run: one message for each model call that wrote text, its reasoning, and the
 * calls of the caller's tools. Streams and stored runs go through the same function, so both have the same items in the
 * same order.
 */
import type { FinishReason, Message, ProviderEvent, Usage } from '@stet/contract/vocabulary'
import type { LogEntry, StoredFrames } from '../../features/runs/ports.ts'

export type ShownItem =
  | { type: 'reasoning'; text: string }
  | { type: 'message'; text: string }
  | { type: 'call'; id: string; name: string; args: Record<string, unknown> }

export interface PlacedItem {
  item: ShownItem
  /** False for an item that was still open when its run did not complete. */
  isComplete: boolean
}

/** Hears of items as they appear. Every index is the item's place in the output. */
export interface ItemListener {
  added(index: number, item: ShownItem): void
  delta(index: number, item: ShownItem, text: string): void
  done(index: number, placed: PlacedItem): void
}

const silent: ItemListener = { added: () => {}, delta: () => {}, done: () => {} }

export interface ItemBuilder {
  /** A model call starts. What an earlier call left open is complete. */
  startCall(): void
  text(text: string): void
  reasoning(text: string): void
  call(call: Omit<Extract<ShownItem, { type: 'call' }>, 'type'>): void
  /** Closes what is open. Returns all items. @param isComplete whether the run completed with its whole answer. */
  end(isComplete: boolean): PlacedItem[]
}

function buildItems(listener: ItemListener = silent): ItemBuilder {
  const placed: PlacedItem[] = []
  /** The message of the model call under way, and its reasoning as long as nothing follows it. */
  const open: { message?: number; reasoning?: number } = {}

  const add = (item: ShownItem): number => {
    placed.push({ item, isComplete: true })
    listener.added(placed.length - 1, item)
    return placed.length - 1
  }
  const close = (kind: 'message' | 'reasoning', isComplete: boolean) => {
    const { [kind]: index } = open
    delete open[kind]
    const found = index === undefined ? undefined : placed[index]
    if (index === undefined || !found) return
    found.isComplete = isComplete
    listener.done(index, found)
  }
  const grow = (kind: 'message' | 'reasoning', text: string) => {
    if (text === '') return
    const index = open[kind] ?? add({ type: kind, text: '' })
    open[kind] = index
    const item = placed[index]?.item
    if (!item || item.type === 'call') return
    item.text += text
    listener.delta(index, item, text)
  }
  const closeAll = (isComplete: boolean) => {
    const kinds = (['message', 'reasoning'] as const).filter((kind) => open[kind] !== undefined)
    for (const kind of kinds.sort((a, b) => (open[a] ?? 0) - (open[b] ?? 0))) close(kind, isComplete)
  }
  return {
    startCall: () => closeAll(true),
    text(text) {
      if (text === '') return
      close('reasoning', true)
      grow('message', text)
    },
    reasoning: (text) => grow('reasoning', text),
    call(call) {
      close('reasoning', true)
      const index = add({ type: 'call', ...call })
      const found = placed[index]
      if (found) listener.done(index, found)
    },
    end(isComplete) {
      closeAll(isComplete)
      return placed
    },
  }
}

/**
 * The items of stored messages.
 * @param output the messages that the run added, from its first answer on
 * @param isShown whether a tool call is the caller's to answer
 */
export function itemsOf(
  output: readonly Message[],
  isShown: (toolCallId: string, toolName: string) => boolean,
  isComplete: boolean,
): PlacedItem[] {
  const builder = buildItems()
  for (const { role, content } of output) {
    if (role !== 'assistant') continue
    builder.startCall()
    for (const part of content) {
      if (part.type === 'text') builder.text(part.text)
      else if (part.type === 'reasoning') builder.reasoning(part.text)
      else if (part.type === 'tool-call' && isShown(part.toolCallId, part.toolName))
        builder.call({ id: part.toolCallId, name: part.toolName, args: part.args })
    }
  }
  return builder.end(isComplete)
}

/** How a run ended, from its terminal event or its row. */
export interface DoorEnd {
  finishReason: FinishReason
  tokenUsage: Usage
  cost: number
  /** The model of the last answer. Null if there is none. */
  model: string | null
  error: { code: string; message: string } | undefined
  /** In milliseconds since the epoch. */
  endedAt: number
}

export interface LogListener extends ItemListener {
  started(): void
  ended(end: DoorEnd, output: PlacedItem[]): void
}

/** Whether the caller got the whole answer. */
export function isWhole({ error, finishReason }: Pick<DoorEnd, 'error' | 'finishReason'>): boolean {
  return !error && finishReason !== 'length' && finishReason !== 'content-filter'
}

interface TerminalEvent {
  timestamp: number
  tokenUsage: Usage
  cost: number
  finishReason?: FinishReason
  response?: { model?: string }
  error?: { code?: string; errorCode?: string; message: string }
}

/**
 * Returns the function that takes the entries of a log in order, from the run's first one.
 * @param hasSteps only the last step of a prompt with steps is shown, which is known at its end
 */
export function followLog(listener: LogListener, hasSteps: boolean): (entry: LogEntry | StoredFrames) => void {
  let builder = buildItems(listener)
  /** What the step under way has shown so far, if it must wait. */
  let held: ProviderEvent[] = []

  const take = (event: ProviderEvent) => {
    if (event.type === 'start-step') builder.startCall()
    else if (event.type === 'text-delta') builder.text(event.textDelta)
    else if (event.type === 'reasoning-delta') builder.reasoning(event.text)
    else if (event.type === 'tool-call' && event._sourceData.source === 'client')
      builder.call({ id: event.toolCallId, name: event.toolName, args: event.args })
  }
  const onProvider = (event: ProviderEvent) => {
    if (!hasSteps) return take(event)
    const last = held.at(-1)
    // Held text is shown in one piece.
    if (event.type === 'text-delta' && last?.type === 'text-delta') last.textDelta += event.textDelta
    else if (event.type === 'reasoning-delta' && last?.type === 'reasoning-delta') last.text += event.text
    else held.push(event)
  }
  const onEnd = (event: TerminalEvent) => {
    for (const each of held) take(each)
    held = []
    const { error } = event
    const end: DoorEnd = {
      finishReason: event.finishReason ?? 'unknown',
      ...{ tokenUsage: event.tokenUsage, cost: event.cost, endedAt: event.timestamp },
      model: event.response?.model ?? null,
      error: error && { code: error.code ?? error.errorCode ?? 'unknown_error', message: error.message },
    }
    listener.ended(end, builder.end(isWhole(end)))
  }
  return (entry) => {
    for (const { name, data } of framesIn(entry)) {
      if (name === 'provider-event') {
        onProvider(data as ProviderEvent)
        continue
      }
      const { type } = data as { type: string }
      if (type === 'chain-started') listener.started()
      else if (type === 'step-started' && hasSteps) {
        held = []
        builder = buildItems(listener)
      } else if (type === 'chain-completed' || type === 'chain-error') onEnd(data as TerminalEvent)
    }
  }
}

/** Events whose JSON this door does not need. They may include every message. */
const skipped =
  /^event: latitude-event\ndata: \{"type":"(?:provider-started|provider-completed|step-completed|tools-requested)"/

function framesIn(entry: LogEntry | StoredFrames): { name: string; data: unknown }[] {
  if ('bytes' in entry) return entry.bytes.toString('utf8').split('\n\n').flatMap(frame)
  if (typeof entry.pieces === 'string') return frame(entry.pieces)
  const [head] = entry.pieces
  if (typeof head === 'string' && skipped.test(head)) return []
  // A range of messages becomes a number, so that the lists around it stay JSON.
  return frame(entry.pieces.map((piece) => (typeof piece === 'string' ? piece : '0')).join(''))
}

function frame(text: string): { name: string; data: unknown }[] {
  const [, name, json] = /^event: ([a-z-]+)\ndata: ([^\n]*)/.exec(text) ?? []
  if (name === undefined || json === undefined || skipped.test(text)) return []
  return [{ name, data: JSON.parse(json) as unknown }]
}
