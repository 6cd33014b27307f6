import { ConfigurationError, type PromptPath, type PromptRegistry } from '../index.ts'
import type { Scorer } from './scorer.ts'

export interface EvalOptions<R = PromptRegistry, P extends string = string> {
  /** Scorers by name. Each is an evaluation in stet, named after the file and the scorer. */
  scorers: Record<string, Scorer<R, P>>
  /** The number from which a score passes. Default: 0.5. */
  threshold?: number
}

/** What an eval file exports as its default. */
export interface EvalDefinition<R = PromptRegistry, P extends string = string> {
  readonly path: P
  readonly scorers: Readonly<Record<string, Scorer<R, P>>>
  readonly threshold: number
}

/** So many scores per answer are useful, and few enough for one request. */
const MAX_SCORERS = 20

/**
 * Defines scorers for the answers of a prompt. `stet eval --file` runs the prompt on its examples, and then the scorers
 * on the answers, in your process. Throws ConfigurationError for options that no run could use.
 *
 * @example
 * export default defineEval('support/reply', {
 *   scorers: {
 *     quotesTicket: ({ output, parameters }) => output.includes(String(parameters.ticket)),
 *     isShort: ({ output }) => Math.min(1, 400 / output.length),
 *   },
 *   threshold: 0.7,
 * })
 */
export function defineEval<P extends PromptPath<R>, R = PromptRegistry>(
  path: P,
  { scorers, threshold = 0.5 }: EvalOptions<R, P>,
): EvalDefinition<R, P> {
  const names = Object.keys(scorers)
  if (names.length === 0) throw new ConfigurationError(`The eval of ${path} has no scorers`)
  if (names.length > MAX_SCORERS)
    throw new ConfigurationError(`The eval of ${path} has more than ${MAX_SCORERS} scorers`)
  const other = names.find((name) => typeof scorers[name] !== 'function')
  if (other !== undefined) throw new ConfigurationError(`The scorer ${other} of ${path} is not a function`)
  if (!(threshold >= 0 && threshold <= 1))
    throw new ConfigurationError(`The threshold of ${path} must be a number from 0 to 1`)
  return { path, scorers, threshold }
}
