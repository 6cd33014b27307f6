/** Exports metrics in Prometheus' text format. Every label has a bounded number of values, whatever clients send. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { RunMetrics } from '../../features/runs/ports.ts'

/** Maximum number of models with their own label. Prompts may contain any model name. */
const mostModels = 100
const longestModelName = 100

/** Bucket bounds in seconds, from a cached read to a slow model call. */
const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

interface ProcessState {
  activeRuns(): number
  statementCount(): number
}

export interface PrometheusMetrics extends RunMetrics {
  requestEnded(request: { method: string; route: string; status: number; seconds: number }): void
  readonly contentType: string
  text(): Promise<string>
}

export function createPrometheusMetrics(state: ProcessState): PrometheusMetrics {
  const registry = new Registry()
  registerProcessState(registry, state)
  const series = registerSeries(registry)
  const knownModels = new Set<string>()
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    requestEnded({ method, route, status, seconds }) {
      const labels = { method: knownMethods.has(method) ? method : 'other', route }
      series.requests.inc({ ...labels, status })
      series.requestSeconds.inc({ ...labels, status }, seconds)
      series.requestDuration.observe({ ...labels, status_class: `${Math.floor(status / 100)}xx` }, seconds)
    },
    runEnded(status, seconds) {
      series.runDuration.observe({ status }, seconds)
    },
    modelCallEnded({ provider, model: name, outcome, seconds, firstTextSeconds, usage }) {
      series.callDuration.observe({ provider, outcome }, seconds)
      if (!usage) return
      const isNew = !knownModels.has(name)
      const model = isNew && (knownModels.size >= mostModels || name.length > longestModelName) ? 'other' : name
      knownModels.add(model)
      const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens } = usage
      if (firstTextSeconds !== undefined) series.firstText.observe({ provider, model }, firstTextSeconds)
      series.tokens.inc({ provider, model, type: 'input' }, inputTokens)
      series.tokens.inc({ provider, model, type: 'output' }, outputTokens)
      if (reasoningTokens > 0) series.tokens.inc({ provider, model, type: 'reasoning' }, reasoningTokens)
      if (cachedInputTokens > 0) series.tokens.inc({ provider, model, type: 'cached_input' }, cachedInputTokens)
    },
  }
}

function registerProcessState(registry: Registry, state: ProcessState): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read())
      },
    })
  gauge('stet_runs_active', 'Runs that this process supervises.', state.activeRuns)
  new Counter({
    name: 'stet_sql_statements_total',
    help: 'SQL statements sent.',
    registers,
    collect() {
      this.reset()
      this.inc(state.statementCount())
    },
  })
  gauge('process_resident_memory_bytes', 'Resident memory, without child processes.', process.memoryUsage.rss)
  gauge('process_uptime_seconds', 'Seconds since the start.', process.uptime)
}

function registerSeries(registry: Registry) {
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers })
  const histogram = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name, help, labelNames, buckets, registers })
  const ofRequest = ['method', 'route', 'status']
  return {
    requests: counter('stet_http_requests_total', 'Requests answered, by route and status.', ofRequest),
    requestSeconds: counter(
      'stet_http_request_seconds_total',
      'Time from request to end of response, summed.',
      ofRequest,
    ),
    requestDuration: histogram(
      'stet_http_request_duration_seconds',
      'Time from request to end of response, by route and class of the status.',
      ['method', 'route', 'status_class'],
    ),
    runDuration: histogram('stet_run_duration_seconds', 'Time from the start of a run to its stored end, by status.', [
      'status',
    ]),
    callDuration: histogram(
      'stet_provider_call_duration_seconds',
      'Time of a model call with its retries, by provider and outcome.',
      ['provider', 'outcome'],
    ),
    firstText: histogram(
      'stet_model_first_text_seconds',
      'Time from a streamed model call to its first text, by provider and model.',
      ['provider', 'model'],
    ),
    tokens: counter(
      'stet_model_tokens_total',
      'Tokens of completed model calls. Output includes reasoning, input includes cached_input.',
      ['provider', 'model', 'type'],
    ),
  }
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
