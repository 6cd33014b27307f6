/** Exports spans with OpenTelemetry over OTLP. Loaded only if an endpoint is configured. */
import {
  type Attributes,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { ExportResultCode, parseKeyPairsIntoRecord, parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Logger, Span, SpanAttributes, SpanRole, Tracer } from '../../shared/telemetry.ts'

/** The values of `OTEL_TRACES_SAMPLER`. */
type SamplerName = RootSamplerName | `parentbased_${RootSamplerName}`
type RootSamplerName = 'always_on' | 'always_off' | 'traceidratio'

export interface TracingSettings {
  otlpEndpoint: string
  otlpHeaders: string | undefined
  serviceName: string
  resourceAttributes: string | undefined
  tracesSampler: SamplerName
  tracesSamplerArg: number | undefined
  traceContent: boolean
  version: string
}

export interface Tracing {
  tracer: Tracer
  /** Exports the remaining spans. Waits for at most 3 s. */
  close(): Promise<void>
}

const closeWaitMs = 3_000
/** Longer values are truncated, which bounds the memory of waiting spans. */
const maxAttribute = 16_384

export function createOtelTracing(settings: TracingSettings, log: Logger, metrics: ExportMetrics): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${settings.otlpEndpoint.replace(/\/$/, '')}/v1/traces`,
    headers: parseKeyPairsIntoRecord(settings.otlpHeaders ?? ''),
  })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      ...parseKeyPairsIntoRecord(settings.resourceAttributes ?? ''),
      'service.name': settings.serviceName,
      'service.version': settings.version,
    }),
    sampler: samplerOf(settings.tracesSampler, settings.tracesSamplerArg),
    spanLimits: { attributeValueLengthLimit: maxAttribute },
    spanProcessors: [boundedExport(exporter, log, metrics)],
  })
  const tracer = provider.getTracer('stet', settings.version)
  const { traceContent } = settings
  return {
    tracer: {
      start(name, { traceparent, role, attributes = {}, startedAt }) {
        const caller = traceparent === undefined ? null : parseTraceParent(traceparent)
        const context = caller ? trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true }) : ROOT_CONTEXT
        const time = startedAt === undefined ? {} : { startTime: startedAt }
        const span = tracer.startSpan(
          name,
          { kind: kinds[role], attributes: attributes as Attributes, ...time },
          context,
        )
        // The id of a trace that the caller does not sample is still passed on, so that no service starts another trace.
        return span.isRecording() || caller ? new TracedSpan(tracer, span, traceContent) : undefined
      },
    },
    async close() {
      let timer: NodeJS.Timeout | undefined
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeWaitMs)
      })
      // The export reports its own failures.
      await Promise.race([provider.shutdown().catch(() => undefined), deadline])
      clearTimeout(timer)
    },
  }
}

/** @param ratio the share of sampled traces, for the ratio samplers. */
function samplerOf(name: SamplerName, ratio = 1): Sampler {
  const root = rootSampler(name.replace('parentbased_', ''), ratio)
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler()
  return name === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler()
}

const kinds: Record<SpanRole, SpanKind> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
}

class TracedSpan implements Span {
  readonly #tracer: OtelTracer
  readonly #span: OtelSpan
  readonly #hasContent: boolean
  readonly ids: Span['ids']

  constructor(tracer: OtelTracer, span: OtelSpan, hasContent: boolean) {
    this.#tracer = tracer
    this.#span = span
    this.#hasContent = hasContent
    const { traceId, spanId } = span.spanContext()
    this.ids = { trace_id: traceId, span_id: spanId }
  }

  get traceparent(): string {
    const isSampled = (this.#span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0
    return `00-${this.ids.trace_id}-${this.ids.span_id}-${isSampled ? '01' : '00'}`
  }

  child(name: string, attributes: SpanAttributes = {}, role: SpanRole = 'internal'): Span {
    const context = trace.setSpan(ROOT_CONTEXT, this.#span)
    const options = { kind: kinds[role], attributes: attributes as Attributes }
    return new TracedSpan(this.#tracer, this.#tracer.startSpan(name, options, context), this.#hasContent)
  }

  rename(name: string): void {
    this.#span.updateName(name)
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes as Attributes)
  }

  setContent(read: () => SpanAttributes): void {
    if (this.#hasContent && this.#span.isRecording()) this.set(read())
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error)
      this.#span.setStatus({ code: SpanStatusCode.ERROR })
    }
    this.#span.end()
  }
}

export interface ExportMetrics {
  spansEnded(result: 'exported' | 'failed' | 'dropped', count: number): void
}

/** Maximum number of spans in memory, including those that are being exported. */
const maxSpans = 4_096
const batch = { maxExportBatchSize: 512, maxQueueSize: maxSpans, scheduledDelayMillis: 1_000 }
/** While the collector is down, an export fails every second. */
const logEveryMs = 60_000

function boundedExport(exporter: SpanExporter, log: Logger, metrics: ExportMetrics): SpanProcessor {
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
      if (held >= maxSpans) return lose('dropped', 1, 'the collector is too slow')
      held += 1
      processor.onEnd(span)
    },
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  }
}
