import type { Message, ToolCall } from '@stet/contract/vocabulary'
import type { Span } from '../../../shared/tracer.ts'
import { addUsage, usageOf } from '../../providers/usage.ts'
import type { EventCodec } from '../ports.ts'
import type {
  EncodedResponse,
  LatitudeEvent,
  MessageSlice,
  RunEvent,
  RunFacts,
  RunSpending,
  ShowEvents,
} from '../run.ts'

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
  readonly facts: RunFacts
  /** The index of the span of the step under way. At first, the span of the tool call whose agent this run is. */
  span: number | null
  awaitedCalls: number
  /** Returns the tokens and text of the active model call so far. Undefined between calls. */
  underWay: (() => PartialCall) | undefined
  answer: EncodedResponse | undefined
}

export interface PartialCall {
  /** The answer without tool calls. Undefined if there is none. */
  message: Message | undefined
  /** Undefined if the provider has not begun to answer. */
  spent: (RunSpending & { isEstimated: boolean }) | undefined
}

/** @param parent the run and the tool call whose agent this run is. */
export function createRunProgress(
  codec: EventCodec,
  earlier: readonly Message[],
  parent?: Pick<RunProgress, 'facts' | 'span'>,
): RunProgress {
  const progress: RunProgress = {
    codec,
    messages: [],
    encoded: [],
    places: new Map(),
    spending: nothingSpent,
    facts: parent?.facts ?? {
      startedAt: null,
      firstTokenAt: null,
      given: null,
      modelCalls: 0,
      lastCall: null,
      isUsageEstimated: false,
      spans: [],
      isCut: false,
    },
    span: parent?.span ?? null,
    awaitedCalls: 0,
    underWay: undefined,
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
export function spend(
  progress: Pick<RunProgress, 'spending'>,
  step: StepTotals | undefined,
  { tokenUsage, cost, costUnknown }: RunSpending,
): void {
  for (const totals of step ? [step, progress] : [progress]) {
    const earlier = totals.spending
    totals.spending = {
      tokenUsage: addUsage(earlier.tokenUsage, tokenUsage),
      // Rounds to 12 decimals, because sums of binary fractions drift.
      cost: Math.round((earlier.cost + cost) * 1e12) / 1e12,
      costUnknown: earlier.costUnknown || costUnknown,
    }
  }
}

export function latitude(progress: RunProgress, event: LatitudeEvent): RunEvent {
  return { latitude: event, covers: progress.messages.length }
}

export const nothingSpent: RunSpending = { tokenUsage: usageOf({}), cost: 0, costUnknown: false }
