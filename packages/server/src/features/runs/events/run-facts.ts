/** Collects the facts of a run that its row keeps beside its messages. A run and its agents' runs share them. */

import type { RunFacts, RunFigures, SpanEnd, SpanStatus, TimedSpan } from '../run.ts'

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
