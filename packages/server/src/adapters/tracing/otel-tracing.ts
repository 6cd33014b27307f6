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
import { parseKeyPairsIntoRecord, parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Logger } from '../../shared/logger.ts'
import type { Span, SpanAttributes, SpanRole, Tracer } from '../../shared/tracer.ts'
import { boundedExport, type ExportMetrics } from './bounded-export.ts'

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
const longestAttribute = 16_384

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
    spanLimits: { attributeValueLengthLimit: longestAttribute },
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
