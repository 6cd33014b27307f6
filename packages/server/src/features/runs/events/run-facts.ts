/** Collects the facts of a run that its row keeps beside its messages. A run and its agents' runs share them. */

import type { Usage } from '../../providers/usage.ts'

export interface RunFacts {
  /** All times are in milliseconds since the epoch. Null until it happened. */
  startedAt: number | null
  /** The first text or tool call of a streamed answer. */
  firstTokenAt: number | null
  /** The place of the caller's messages in the conversation. Null if there are none, or if they are not part of it. */
  given: { from: number; count: number } | null
  /** The number of model calls, those of agents included. */
  modelCalls: number
  lastCall: LastCall | null
  /** True if the tokens of a model call were estimated, because it did not end. */
  isUsageEstimated: boolean
  readonly spans: TimedSpan[]
  isCut: boolean
}

export interface LastCall {
  /** The name of the provider key. */
  provider: string
  model: string
  /** Null if the call did not end. */
  finishReason: string | null
}

export type SpanKind = 'step' | 'model' | 'tool' | 'wait'
export type SpanStatus = 'ok' | 'error' | 'stopped'

interface SpanEnd {
  status: SpanStatus
  firstTokenAt?: number | undefined
  usage?: Usage
  /** In US dollars. Undefined without a price. */
  cost?: number | undefined
}

interface TimedSpan {
  kind: SpanKind
  name: string
  parent: number | null
  startedAt: number
  end?: SpanEnd & { at: number }
}

/** The columns of an ended run that the facts decide. */
export interface RunFigures {
  givenFrom: number | null
  givenCount: number | null
  provider: string | null
  model: string | null
  finishReason: string | null
  startedAt: Date | null
  firstTokenMs: number | null
  isUsageEstimated: boolean
  /** JSON. Null without spans. */
  spans: string | null
}

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
    provider: lastCall?.provider ?? null,
    model: lastCall?.model ?? null,
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
