import type { Message, ToolCall } from '@stet/contract/vocabulary'
import type { Span } from '../../../shared/tracer.ts'
import { addUsage, usageOf } from '../../providers/usage.ts'
import type { EventCodec } from '../ports.ts'
import type { EncodedResponse, LatitudeEvent, MessageSlice, RunEvent, RunSpending, ShowEvents } from '../run.ts'

export interface RunWatch {
  showEvents: ShowEvents
  signal: AbortSignal
  /** The parent of the spans of this run, or of a tool call's agent. */
  span: Span | undefined
}

export interface RunCompletion {
  answer: EncodedResponse
  toolRequests: ToolCall[]
}

export interface RunProgress {
  readonly codec: EventCodec
  /** The conversation's messages. The list is append-only, and `append` encodes each message once. */
  readonly messages: Message[]
  readonly encoded: string[]
  /** The position of each message: the latest by object, the first by encoded text. */
  readonly places: Map<Message | string, number>
  spending: RunSpending
  /** Shared with the runs of agents. */
  readonly budget: { modelCalls: number }
  awaitedCalls: number
  /** The answer of the model call under way, without tool calls. Undefined between calls. */
  partial: (() => Message | undefined) | undefined
  answer: EncodedResponse | undefined
}

export function createRunProgress(
  codec: EventCodec,
  earlier: readonly Message[],
  budget: RunProgress['budget'] = { modelCalls: 0 },
): RunProgress {
  const progress: RunProgress = {
    codec,
    messages: [],
    encoded: [],
    places: new Map(),
    spending: nothingSpent(),
    budget,
    awaitedCalls: 0,
    partial: undefined,
    answer: undefined,
  }
  append(progress, earlier)
  return progress
}

export function append({ codec, messages, encoded, places }: RunProgress, added: readonly Message[]): void {
  for (const message of added) {
    const code = codec.encodeMessage(message)
    if (!places.has(code)) places.set(code, messages.length)
    places.set(message, messages.length)
    messages.push(message)
    encoded.push(code)
  }
}

/** Converts messages to ranges of the conversation. A message outside the conversation is included in full. */
export function locate({ codec, messages, encoded, places }: RunProgress, wanted: readonly Message[]): MessageSlice {
  const slice: (readonly [number, number] | Message)[] = []
  let open: [number, number] | undefined
  for (const message of wanted) {
    const next = open?.[1]
    // Tries the next position first, so that a range continues if equal messages occur several times.
    let place = next !== undefined && messages[next] === message ? next : places.get(message)
    if (place === undefined) {
      // Encodes only messages that were never appended, because a message may be several megabytes.
      const code = codec.encodeMessage(message)
      place = next !== undefined && encoded[next] === code ? next : places.get(code)
    }
    if (open && place === open[1]) {
      open[1] += 1
      continue
    }
    open = place === undefined ? undefined : [place, place + 1]
    slice.push(open ?? message)
  }
  return slice
}

export interface StepTotals {
  output: Message[]
  spending: RunSpending
}

export function addOutput(progress: RunProgress, step: StepTotals, message: Message): void {
  step.output.push(message)
  append(progress, [message])
}

/** @param step undefined for a call that failed, because its step has no result. */
export function spend(progress: RunProgress, step: StepTotals | undefined, spent: RunSpending): void {
  if (step) step.spending = addSpending(step.spending, spent)
  progress.spending = addSpending(progress.spending, spent)
}

export function latitude(progress: RunProgress, event: LatitudeEvent): RunEvent {
  return { latitude: event, covers: progress.messages.length }
}

export function nothingSpent(): RunSpending {
  return { tokenUsage: usageOf({}), cost: 0, costUnknown: false }
}

function addSpending(left: RunSpending, right: RunSpending): RunSpending {
  return {
    tokenUsage: addUsage(left.tokenUsage, right.tokenUsage),
    // Rounds to 12 decimals, because sums of binary fractions drift.
    cost: Math.round((left.cost + right.cost) * 1e12) / 1e12,
    costUnknown: left.costUnknown || right.costUnknown,
  }
}
