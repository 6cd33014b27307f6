/** Limits the spans in memory and reports lost ones. A dead or slow collector never affects a run. */
import { ExportResultCode } from '@opentelemetry/core'
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace'
import type { Logger } from '../../shared/logger.ts'

export interface ExportMetrics {
  spansEnded(result: 'exported' | 'failed' | 'dropped', count: number): void
}

/** Maximum number of spans in memory, including those that are being exported. */
const mostSpans = 4_096
const batch = { maxExportBatchSize: 512, maxQueueSize: mostSpans, scheduledDelayMillis: 1_000 }
/** While the collector is down, an export fails every second. */
const logEveryMs = 60_000

export function boundedExport(exporter: SpanExporter, log: Logger, metrics: ExportMetrics): SpanProcessor {
  let held = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  let unloggedSpans = 0
  const lose = (result: 'failed' | 'dropped', count: number, reason: string): void => {
    metrics.spansEnded(result, count)
    unloggedSpans += count
    const now = performance.now()
    if (now - loggedAt < logEveryMs) return
    log.warn('traces.spans-lost', { spans: unloggedSpans, reason })
    loggedAt = now
    unloggedSpans = 0
  }
  const reporting: SpanExporter = {
    export(spans, done) {
      exporter.export(spans, (result) => {
        held -= spans.length
        if (result.code === ExportResultCode.SUCCESS) metrics.spansEnded('exported', spans.length)
        else lose('failed', spans.length, result.error?.name ?? 'the collector refused them')
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
  const processor = new BatchSpanProcessor({ ...batch, exporter: reporting })
  return {
    onStart: (span, context) => processor.onStart(span, context),
    onEnd(span) {
      if (held >= mostSpans) return lose('dropped', 1, 'the collector is too slow')
      held += 1
      processor.onEnd(span)
    },
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  }
}
