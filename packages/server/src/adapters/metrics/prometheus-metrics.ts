/**
 * Exports metrics in Prometheus' text format. Every label has a bounded number of values, which clients cannot extend.
 */
import { Registry } from 'prom-client'
import type { RunMetrics } from '../../features/runs/ports.ts'
import { type ProcessState, registerProcess, registerProcessState, registerSeries } from './series.ts'

/** Maximum number of models with their own label. Prompts may contain any model name. */
const maxModels = 100
const maxModelName = 100
const maxPrompt = 200

export interface MetricsSettings {
  /** Maximum number of prompts with their own label. */
  metricsPrompts: number
}

export interface PrometheusMetrics extends RunMetrics {
  requestEnded(request: { method: string; route: string; status: number; seconds: number }): void
  evaluationEnded(evaluation: { operation: string; place: string; seconds: number }): void
  evaluationWaited(seconds: number): void
  workerDied(reason: string): void
  batchEnded(batch: { rows: number; seconds: number; isCommitted: boolean }): void
  spansEnded(result: string, count: number): void
  readonly contentType: string
  text(): Promise<string>
  /** Adds the gauges of a composed server. */
  watch(state: ProcessState): void
  close(): void
}

export function createPrometheusMetrics({ metricsPrompts }: MetricsSettings): PrometheusMetrics {
  const registry = new Registry()
  const close = registerProcess(registry)
  const series = registerSeries(registry)
  // A series that exists from the start shows its first increase.
  for (const reason of ['died', 'timeout', 'starved']) series.workerDeaths.inc({ reason }, 0)
  const models = boundedLabels(maxModels, maxModelName)
  const prompts = boundedLabels(metricsPrompts, maxPrompt)
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    watch: (state) => registerProcessState(registry, state),
    close,
    requestEnded({ method, route, status, seconds }) {
      const labels = { method: knownMethods.has(method) ? method : 'other', route }
      series.requests.inc({ ...labels, status })
      series.requestDuration.observe({ ...labels, status_class: `${Math.floor(status / 100)}xx` }, seconds)
    },
    runEnded({ status, mode, projectId, path, seconds }) {
      series.runDuration.observe({ status }, seconds)
      series.runModeDuration.observe({ mode }, seconds)
      const isNamed = prompts.isNamed(`${projectId}/${path}`)
      series.runs.inc({ status, mode, project: isNamed ? projectId : 'other', prompt: isNamed ? path : 'other' })
    },
    runDequeued(seconds) {
      series.queueWait.observe(seconds)
    },
    modelCallEnded({ provider, model: name, outcome, seconds, firstTextSeconds, usage, cost }) {
      series.callDuration.observe({ provider, outcome }, seconds)
      if (!usage) return
      const ofModel = { provider, model: models.isNamed(name) ? name : 'other' }
      const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens } = usage
      series.modelDuration.observe(ofModel, seconds)
      if (firstTextSeconds !== undefined) series.firstText.observe(ofModel, firstTextSeconds)
      series.tokens.inc({ ...ofModel, type: 'input' }, inputTokens)
      series.tokens.inc({ ...ofModel, type: 'output' }, outputTokens)
      if (reasoningTokens > 0) series.tokens.inc({ ...ofModel, type: 'reasoning' }, reasoningTokens)
      if (cachedInputTokens > 0) series.tokens.inc({ ...ofModel, type: 'cached_input' }, cachedInputTokens)
      if (cost !== undefined) series.cost.inc(ofModel, cost)
    },
    evaluationEnded({ operation, place, seconds }) {
      series.templateDuration.observe({ operation, place }, seconds)
    },
    evaluationWaited(seconds) {
      series.templateWait.observe(seconds)
    },
    workerDied(reason) {
      series.workerDeaths.inc({ reason })
    },
    batchEnded({ rows, seconds, isCommitted }) {
      series.batchRows.observe(rows)
      series.commitDuration.observe(seconds)
      if (!isCommitted) series.commitFailures.inc()
    },
    spansEnded(result, count) {
      series.spans.inc({ result }, count)
    },
  }
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])

/**
 * Limits the number of values of a label that clients choose. Without a limit, a tenant could fill the memory of the
 * server and of Prometheus with names. `isNamed` is true for the first `most` keys of at most `longest` characters. The
 * caller labels other keys `other`.
 */
function boundedLabels(most: number, longest: number): { isNamed(key: string): boolean } {
  const known = new Set<string>()
  return {
    isNamed(key) {
      if (known.has(key)) return true
      if (known.size >= most || key.length > longest) return false
      known.add(key)
      return true
    },
  }
}
