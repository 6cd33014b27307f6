/** Declares the metrics that requests, runs and workers record. `process-state.ts` has those that a scrape reads. */
import { Counter, Histogram, type Registry } from 'prom-client'

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
    requestSeconds: counter('stet_http_request_seconds_total', 'Time from request to end of response, summed.', labels),
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
