/** Steps, model calls and tool calls of a run that is followed, by the arrival of its events. Pure. */
import type { RunSpan, StreamEvent } from '@stet/sdk'

export interface Arrived {
  event: StreamEvent
  /** In milliseconds since the run was created. */
  at: number
}

/** The stored spans replace these when the run has ended. An open span reaches up to `now`. */
export function liveSpans(arrived: readonly Arrived[], path: string, now: number): RunSpan[] {
  const spans: (RunSpan & { isOpen: boolean; key: string })[] = []
  const open = (kind: RunSpan['kind'], name: string, parent: number, at: number, key: string = kind) =>
    spans.push({
      ...{ kind, name, parent: parent < 0 ? null : parent, startMs: at, endMs: now, status: 'ok', isOpen: true, key },
    })
  const close = (key: string, at: number, facts: Partial<RunSpan> = {}) => {
    const span = spans.findLast((one) => one.isOpen && one.key === key)
    if (span) Object.assign(span, facts, { endMs: at, isOpen: false })
  }
  const lastOf = (kind: RunSpan['kind']) => spans.findLastIndex((span) => span.kind === kind)
  for (const {
    event: { data },
    at,
  } of arrived) {
    if (data.type === 'step-started') open('step', path, -1, at)
    else if (data.type === 'step-completed') close('step', at)
    else if (data.type === 'provider-started') open('model', String(data.config['model'] ?? ''), lastOf('step'), at)
    else if (data.type === 'provider-completed') {
      const { inputTokens, outputTokens, cachedInputTokens } = data.tokenUsage
      close('model', at, { usage: { inputTokens, outputTokens, cachedInputTokens } })
    } else if (data.type === 'tool-call')
      open(data._sourceData.source === 'client' ? 'wait' : 'tool', data.toolName, lastOf('step'), at, data.toolCallId)
    else if (data.type === 'tool-result') close(data.toolCallId, at, { status: data.isError ? 'error' : 'ok' })
    else if (data.type === 'tool-error') close(data.toolCallId, at, { status: 'error' })
  }
  return spans.map(({ isOpen: _, key: __, ...span }) => span)
}
