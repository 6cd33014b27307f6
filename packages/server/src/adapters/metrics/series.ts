/** Declares the metrics that requests, runs and workers record, and those that are read at each scrape. */

import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Bucket bounds in seconds, from a cached read to a slow model call. */
const slowBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
/** Bucket bounds in seconds for work inside the server, from a small commit to a stalled worker. */
const fastBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const rowBuckets = [1, 2, 5, 10, 25, 50, 100, 250, 500]

type Declare = ReturnType<typeof declareIn>

export function registerSeries(registry: Registry) {
  const declare = declareIn(registry)
  return { ...requestSeries(declare), ...runSeries(declare), ...modelSeries(declare), ...workSeries(declare) }
}

function declareIn(registry: Registry) {
  const registers = [registry]
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, labelNames: string[] = [], buckets = slowBuckets) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  }
}

function requestSeries({ counter, histogram }: Declare) {
  const labels = ['method', 'route', 'status']
  return {
    requests: counter('stet_http_requests_total', 'Requests answered, by route and status.', labels),
    requestDuration: histogram(
      'stet_http_request_duration_seconds',
      'Time from request to end of response, by route and status class.',
      ['method', 'route', 'status_class'],
    ),
  }
}

function runSeries({ counter, histogram }: Declare) {
  return {
    runs: counter('stet_runs_total', 'Ended runs, by status, mode and prompt.', [
      'status',
      'mode',
      'project',
      'prompt',
    ]),
    runDuration: histogram('stet_run_duration_seconds', 'Time from the start of a run to its stored end, by status.', [
      'status',
    ]),
    runModeDuration: histogram(
      'stet_run_mode_duration_seconds',
      'Time from the start of a run to its stored end, by mode.',
      ['mode'],
    ),
    queueWait: histogram('stet_run_queue_wait_seconds', 'Time that a background run waited for its start.'),
  }
}

function modelSeries({ counter, histogram }: Declare) {
  const labels = ['provider', 'model']
  return {
    callDuration: histogram(
      'stet_provider_call_duration_seconds',
      'Time of a model call with its retries, by provider and outcome.',
      ['provider', 'outcome'],
    ),
    modelDuration: histogram(
      'stet_model_call_duration_seconds',
      'Time of a completed model call with its retries, by provider and model.',
      labels,
    ),
    firstText: histogram(
      'stet_model_first_text_seconds',
      'Time from a streamed model call to its first text, by provider and model.',
      labels,
    ),
    tokens: counter(
      'stet_model_tokens_total',
      'Tokens of completed model calls. Output includes reasoning, input includes cached_input.',
      [...labels, 'type'],
    ),
    cost: counter('stet_model_cost_usd_total', 'Cost of completed model calls with a known price.', labels),
  }
}

/** The evaluation of prompts, the database and the traces. */
function workSeries({ counter, histogram }: Declare) {
  return {
    templateWait: histogram(
      'stet_template_wait_seconds',
      'Time that an evaluation waited for the evaluation thread.',
      [],
      fastBuckets,
    ),
    templateDuration: histogram(
      'stet_template_evaluation_seconds',
      'Time of an evaluation, by operation and place: the thread of the server, or the evaluation thread.',
      ['operation', 'place'],
      fastBuckets,
    ),
    workerDeaths: counter('stet_template_worker_deaths_total', 'Evaluation threads that were ended, by reason.', [
      'reason',
    ]),
    batchRows: histogram('stet_database_batch_rows', 'Rows of a write batch.', [], rowBuckets),
    commitDuration: histogram(
      'stet_database_commit_seconds',
      'Time from sending a write batch to its commit.',
      [],
      fastBuckets,
    ),
    spans: counter('stet_trace_spans_total', 'Spans by result of their export.', ['result']),
    commitFailures: counter(
      'stet_database_commit_failures_total',
      'Write batches that failed because the database was unavailable.',
    ),
  }
}

export interface ProcessState {
  activeRuns(): number
  /** Rejects while the queue is unavailable. */
  queuedRuns(): number | Promise<number>
  eventLogReaders(): number
  templatesWaiting(): number
  statementCount(): number
  /** Undefined for the embedded database, which has no pool. */
  connections(): { inUse: number; waiting: number; most: number } | undefined
  /** Absent without a limit of stored bytes. */
  storedBytes?(): number
}

export function registerProcessState(registry: Registry, state: ProcessState): void {
  const { gauge, counter } = readers(registry)
  gauge('stet_runs_active', 'Runs that this process supervises.', state.activeRuns)
  gauge('stet_runs_queued', 'Queued background runs of all servers that share the queue.', state.queuedRuns)
  gauge('stet_event_log_readers', 'Open readers of event logs in memory.', state.eventLogReaders)
  gauge('stet_template_queue_depth', 'Evaluations that wait for the evaluation thread.', state.templatesWaiting)
  counter('stet_sql_statements_total', 'SQL statements sent.', state.statementCount)
  const connections = (name: 'inUse' | 'waiting' | 'most') => () => state.connections()?.[name] ?? 0
  gauge('stet_database_connections_in_use', 'Connections of the pools in use.', connections('inUse'))
  gauge('stet_database_connections_max', 'Size of the pools; 0 without a pool.', connections('most'))
  gauge('stet_database_waiting', 'Statements and transactions that wait for a connection.', connections('waiting'))
  if (state.storedBytes)
    gauge('stet_stored_bytes', 'Stored bytes of all workspaces, as counted against their limit.', state.storedBytes)
}

/** Each tick costs about 60 µs of CPU, so an idle server spends 0.1 % of a core on it. */
const resolutionMs = 50

/** Returns a function that stops the measurement. */
export function registerProcess(registry: Registry): () => void {
  const { gauge, counter } = readers(registry)
  gauge('process_resident_memory_bytes', 'Resident memory, without child processes.', process.memoryUsage.rss)
  gauge('process_uptime_seconds', 'Seconds since the start.', process.uptime)
  counter(
    'stet_event_loop_busy_seconds_total',
    'Time that the event loop was busy.',
    () => performance.eventLoopUtilization().active / 1_000,
  )
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  // The histogram contains the time between two ticks, so an idle event loop has about `resolutionMs`.
  const lag = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1_000)
  new Gauge({
    name: 'stet_event_loop_lag_seconds',
    help: 'Delay of timers since the previous scrape, by quantile.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      if (delay.count === 0) return
      this.set({ quantile: '0.5' }, lag(delay.percentile(50)))
      this.set({ quantile: '0.99' }, lag(delay.percentile(99)))
      this.set({ quantile: '1' }, lag(delay.max))
      delay.reset()
    },
  })
  return () => delay.disable()
}

function readers(registry: Registry) {
  const registers = [registry]
  return {
    gauge: (name: string, help: string, read: () => number | Promise<number>) =>
      new Gauge({
        ...{ name, help, registers },
        async collect() {
          try {
            this.set(await read())
          } catch {
            // A missing value must not fail the scrape, and an old one must not look current.
            this.set(Number.NaN)
          }
        },
      }),
    counter: (name: string, help: string, read: () => number) =>
      new Counter({
        ...{ name, help, registers },
        collect() {
          this.reset()
          this.inc(read())
        },
      }),
  }
}
