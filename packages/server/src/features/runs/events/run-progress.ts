/** The state of an active run: its messages, its spending, and the facts that its row keeps. Agents share the facts. */
import type { Message, ToolCall } from '@stet/contract/vocabulary'
import type { Span } from '../../../shared/telemetry.ts'
import { addUsage, usageOf } from '../../providers/usage.ts'
import type { EventCodec } from '../ports.ts'
import type {
  EncodedResponse,
  LatitudeEvent,
  MessageSlice,
  RunEvent,
  RunFacts,
  RunFigures,
  RunSpending,
  ShowEvents,
  SpanEnd,
  SpanStatus,
  TimedSpan,
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
  /** The runs of active agents. `spending` does not include theirs yet. */
  readonly agents: Set<RunProgress>
  /** Returns the tokens and text of the active model call so far. Undefined between calls. */
  underWay: (() => PartialCall) | undefined
  answer: EncodedResponse | undefined
}

export interface PartialCall {
  /** The answer so far, without tool calls that were not shown. Undefined if there is none. */
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
    agents: new Set(),
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

/** Returns the spending with that of active model calls, those of agents included. */
export function spendingSoFar({ spending, underWay, agents }: RunProgress): NonNullable<PartialCall['spent']> {
  const totals = { spending }
  const active = [underWay?.().spent ?? [], ...[...agents].map(spendingSoFar)].flat()
  for (const spent of active) spend(totals, undefined, spent)
  return { ...totals.spending, isEstimated: active.some(({ isEstimated }) => isEstimated) }
}

export function latitude(progress: RunProgress, event: LatitudeEvent): RunEvent {
  return { latitude: event, covers: progress.messages.length }
}

export const nothingSpent: RunSpending = { tokenUsage: usageOf({}), cost: 0, costUnknown: false }

const maxSpans = 200
const maxSpanBytes = 32_768
const maxNameLength = 128

/** Returns the index of the new span, or null if the run has its maximum of spans. */
export function openSpan(
  facts: RunFacts,
  { kind, name, parent, at }: Pick<TimedSpan, 'kind' | 'name' | 'parent'> & { at: Date },
): number | null {
  if (facts.spans.length >= maxSpans) {
    facts.isCut = true
    return null
  }
  return facts.spans.push({ kind, name, parent, startedAt: at.getTime() }) - 1
}

export function closeSpan({ spans }: RunFacts, index: number | null, end: SpanEnd & { at: Date }): void {
  const span = index === null ? undefined : spans[index]
  if (span) span.end = { ...end, at: end.at.getTime() }
}

/** @param end when and how the run ended. Its open spans end with it. */
export function figuresOf(facts: RunFacts, createdAt: Date, end: { at: Date; status: SpanStatus }): RunFigures {
  const { given, lastCall, startedAt, firstTokenAt, isUsageEstimated, spans } = facts
  const begunAt = createdAt.getTime()
  return {
    givenFrom: given?.from ?? null,
    givenCount: given?.count ?? null,
    provider: lastCall?.provider.slice(0, maxNameLength) ?? null,
    model: lastCall?.model.slice(0, maxNameLength) ?? null,
    finishReason: lastCall?.finishReason ?? null,
    startedAt: startedAt === null ? null : new Date(startedAt),
    // The clock of a machine may be set back.
    firstTokenMs: firstTokenAt === null ? null : Math.max(0, firstTokenAt - begunAt),
    isUsageEstimated,
    spans: spans.length === 0 ? null : spansJson(facts, begunAt, { status: end.status, at: end.at.getTime() }),
  }
}

/** The text of `{spans, spansCut}`. A hostile name or a run of many calls loses its last spans. */
function spansJson({ spans, isCut }: RunFacts, begunAt: number, runEnd: SpanEnd & { at: number }): string {
  let list = ''
  let bytes = 0
  let isWhole = !isCut
  for (const { kind, name, parent, startedAt, end = runEnd } of spans) {
    const { status, at, firstTokenAt, usage, cost } = end
    const span = JSON.stringify({
      kind,
      name: name.slice(0, maxNameLength),
      parent,
      startMs: Math.max(0, startedAt - begunAt),
      endMs: Math.max(0, at - begunAt),
      ...(firstTokenAt !== undefined && { firstTokenMs: Math.max(0, firstTokenAt - begunAt) }),
      ...(usage && {
        usage: {
          inputTokens: usage.inputTokens,
          outputTokens: usage.outputTokens,
          cachedInputTokens: usage.cachedInputTokens,
        },
      }),
      ...(cost !== undefined && { cost }),
      status,
    })
    bytes += Buffer.byteLength(span) + 1
    if (bytes > maxSpanBytes) {
      isWhole = false
      break
    }
    list += list === '' ? span : `,${span}`
  }
  return `{"spans":[${list}],"spansCut":${!isWhole}}`
}
