import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import type { RunOutcome } from './bench-run.ts'

export interface Percentiles {
  p50: number
  p90: number
  p99: number
  max: number
}

export interface CountedError {
  cause: string
  count: number
  /** The message of the first such error. */
  example: string
}

/** Counts outcomes in constant memory, so that a long load does not fill the generator's heap. */
export class Tally {
  done = 0
  failed = 0
  /** Runs that were still active at the end and were stopped. */
  stopped = 0
  events = 0
  textBytes = 0
  cost = 0
  /** By `performance.now()`. Undefined before the first run has ended. */
  lastEndAt: number | undefined
  readonly #latency = newHistogram()
  readonly #firstText = newHistogram()
  readonly #errors = new Map<string, CountedError>()

  add(outcome: RunOutcome, now = performance.now()): void {
    if (outcome.kind === 'stopped') {
      this.stopped += 1
      return
    }
    this.lastEndAt = now
    if (outcome.kind === 'failed') {
      const { cause, message: example } = outcome
      const counted = this.#errors.get(cause) ?? { cause, count: 0, example }
      counted.count += 1
      this.#errors.set(cause, counted)
      this.failed += 1
      return
    }
    this.done += 1
    this.events += outcome.events
    this.textBytes += outcome.textBytes
    this.cost += outcome.cost
    recordMs(this.#latency, outcome.ms)
    if (outcome.firstTextMs !== undefined) recordMs(this.#firstText, outcome.firstTextMs)
  }

  /** Milliseconds of successful runs. Null if there are none. */
  get latencyMs(): Percentiles | null {
    return percentilesOf(this.#latency)
  }

  /** Milliseconds to the first text. Null if no run streamed any text. */
  get firstTextMs(): Percentiles | null {
    return percentilesOf(this.#firstText)
  }

  /** The most frequent causes first. */
  get errors(): CountedError[] {
    return [...this.#errors.values()].sort((left, right) => right.count - left.count)
  }
}

/** Records microseconds up to a day, with an error of at most 0.01 %. */
function newHistogram(): RecordableHistogram {
  return createHistogram({ lowest: 1, highest: 86_400_000_000, figures: 4 })
}

function recordMs(histogram: RecordableHistogram, ms: number): void {
  // The histogram refuses 0.
  histogram.record(Math.max(1, Math.round(ms * 1000)))
}

function percentilesOf(histogram: RecordableHistogram): Percentiles | null {
  if (histogram.count === 0) return null
  const at = (percent: number): number => Math.min(histogram.percentile(percent), histogram.max) / 1000
  return { p50: at(50), p90: at(90), p99: at(99), max: histogram.max / 1000 }
}
