import type { PromptRegistry } from '../index.ts'
import type { EvalDefinition } from './define-eval.ts'
import type { ScorerArgs, ScorerResult } from './scorer.ts'

/** The verdict of one scorer on one answer. */
export interface ScorerVerdict {
  scorer: string
  /** Null if the answer is unscored, which is neither a pass nor a failure. */
  passed: boolean | null
  /** The number that was compared with the threshold. Absent for a boolean. */
  score?: number
  /** One line. */
  reason?: string
  /** Why an answer is unscored. Absent if the scorer returned null. */
  code?: 'scorer-threw' | 'invalid-score'
}

const LONGEST_REASON = 500

/**
 * Scores one answer with all scorers at once. Never rejects: a scorer that throws leaves the answer unscored.
 *
 * @example
 * const definition = defineEval('support/reply', { scorers: { isShort: ({ output }) => output.length < 400 } })
 * const verdicts = await runScorers(definition, {
 *   input: { ticket: 'Where is it?' },
 *   parameters: { ticket: 'Where is it?' },
 *   messages: [],
 *   output: 'It is on its way.',
 *   object: undefined,
 *   expected: undefined,
 *   toolCalls: [],
 *   run: { conversationUuid: uuid, costUsd: 0.0004, durationMs: 900 },
 * })
 * show(verdicts[0]?.passed)
 */
export async function runScorers<R = PromptRegistry, P extends string = string>(
  { scorers, threshold }: EvalDefinition<R, P>,
  args: ScorerArgs<R, P>,
): Promise<ScorerVerdict[]> {
  return Promise.all(
    Object.entries(scorers).map(async ([scorer, score]): Promise<ScorerVerdict> => {
      try {
        return { scorer, ...verdictOf(await score(args), threshold) }
      } catch (error) {
        return { scorer, passed: null, code: 'scorer-threw', reason: firstLine(error) }
      }
    }),
  )
}

/** JavaScript may return anything, such as nothing at all. */
function verdictOf(result: ScorerResult | undefined, threshold: number): Omit<ScorerVerdict, 'scorer'> {
  if (result === null) return { passed: null }
  if (typeof result === 'boolean') return { passed: result }
  if (typeof result === 'number') return numberVerdict(result, threshold)
  if (typeof result !== 'object' || !('score' in result)) return invalid(result)
  const { score, metadata } = result
  const text = metadata?.['reason'] ?? metadata?.['rationale']
  const reason = typeof text === 'string' && text.trim() !== '' ? { reason: firstLine(text) } : {}
  if (score === null) return { passed: null, ...reason }
  return typeof score === 'number' ? { ...reason, ...numberVerdict(score, threshold) } : invalid(score)
}

function numberVerdict(score: number, threshold: number): Omit<ScorerVerdict, 'scorer'> {
  return score >= 0 && score <= 1 ? { passed: score >= threshold, score } : invalid(score)
}

function invalid(result: unknown): Omit<ScorerVerdict, 'scorer'> {
  const reason = `returned ${typeof result === 'number' ? result : typeof result}, not a boolean or a number from 0 to 1`
  return { passed: null, code: 'invalid-score', reason }
}

function firstLine(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
  return (text.trim().split(/\r?\n/)[0] ?? '').slice(0, LONGEST_REASON)
}
