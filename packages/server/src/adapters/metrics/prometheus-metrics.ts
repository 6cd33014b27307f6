/** Exports metrics in Prometheus' text format. Every label is bounded, regardless of client input. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { RunMetrics } from '../../features/runs/ports.ts'

/** Maximum number of models with their own label. Prompts may contain any model name. */
const mostModels = 100
const longestModelName = 100

/** Seconds, from a cached read to a slow model answer. */
const buckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

interface ProcessState {
  activeRuns(): number
  statementCount(): number
}

interface EndedRequest {
  method: string
  route: string
  status: number
  seconds: number
}

export interface PrometheusMetrics extends RunMetrics {
  requestEnded(request: EndedRequest): void
  readonly contentType: string
  text(): Promise<string>
}

export function createPrometheusMetrics(state: ProcessState): PrometheusMetrics {
  const registry = new Registry()
  const registers = [registry]
  registerProcessState(registers, state)
  const http = httpMetrics(registers)
  const runDuration = new Histogram({
    name: 'stet_run_duration_seconds',
    help: 'Time from the start of a run to its stored end, by status.',
    labelNames: ['status'],
    buckets,
    registers,
  })
  const models = modelMetrics(registers)
  const knownModels = new Set<string>()
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    requestEnded({ method, route, status, seconds }) {
      const labels = { method: knownMethods.has(method) ? method : 'other', route }
      http.requests.inc({ ...labels, status })
      http.seconds.inc({ ...labels, status }, seconds)
      http.duration.observe({ ...labels, status_class: `${Math.floor(status / 100)}xx` }, seconds)
    },
    runEnded(status, seconds) {
      runDuration.observe({ status }, seconds)
    },
    modelCallEnded({ provider, model: name, outcome, seconds, firstTextSeconds, usage }) {
      models.duration.observe({ provider, outcome }, seconds)
      if (!usage) return
      const isNew = !knownModels.has(name)
      const model = isNew && (knownModels.size >= mostModels || name.length > longestModelName) ? 'other' : name
      knownModels.add(model)
      const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens } = usage
      if (firstTextSeconds !== undefined) models.firstText.observe({ provider, model }, firstTextSeconds)
      models.tokens.inc({ provider, model, type: 'input' }, inputTokens)
      models.tokens.inc({ provider, model, type: 'output' }, outputTokens)
      if (reasoningTokens > 0) models.tokens.inc({ provider, model, type: 'reasoning' }, reasoningTokens)
      if (cachedInputTokens > 0) models.tokens.inc({ provider, model, type: 'cached_input' }, cachedInputTokens)
    },
  }
}

function registerProcessState(registers: Registry[], state: ProcessState): void {
  new Gauge({
    name: 'stet_runs_active',
    help: 'Runs that this process supervises.',
    registers,
    collect() {
      this.set(state.activeRuns())
    },
  })
  new Counter({
    name: 'stet_sql_statements_total',
    help: 'SQL statements sent.',
    registers,
    collect() {
      this.reset()
      this.inc(state.statementCount())
    },
  })
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory, without child processes.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Gauge({
    name: 'process_uptime_seconds',
    help: 'Seconds since the start.',
    registers,
    collect() {
      this.set(process.uptime())
    },
  })
}

function httpMetrics(registers: Registry[]) {
  const labelNames = ['method', 'route', 'status']
  return {
    requests: new Counter({
      name: 'stet_http_requests_total',
      help: 'Requests answered, by route and status.',
      labelNames,
      registers,
    }),
    seconds: new Counter({
      name: 'stet_http_request_seconds_total',
      help: 'Time from request to end of response, summed.',
      labelNames,
      registers,
    }),
    duration: new Histogram({
      name: 'stet_http_request_duration_seconds',
      help: 'Time from request to end of response, by route and class of the status.',
      labelNames: ['method', 'route', 'status_class'],
      buckets,
      registers,
    }),
  }
}

function modelMetrics(registers: Registry[]) {
  return {
    duration: new Histogram({
      name: 'stet_provider_call_duration_seconds',
      help: 'Time of a model call with its retries, by provider and outcome.',
      labelNames: ['provider', 'outcome'],
      buckets,
      registers,
    }),
    firstText: new Histogram({
      name: 'stet_model_first_text_seconds',
      help: 'Time from a streamed model call to its first text, by provider and model.',
      labelNames: ['provider', 'model'],
      buckets,
      registers,
    }),
    tokens: new Counter({
      name: 'stet_model_tokens_total',
      help: 'Tokens of completed model calls. Output includes reasoning, input includes cached_input.',
      labelNames: ['provider', 'model', 'type'],
      registers,
    }),
  }
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
