import type { RunResult, Usage } from '../types.ts'

/** The cost of one round. */
export type Spent = Pick<RunResult, 'tokenUsage' | 'cost'>

const KEYS = [
  'promptTokens',
  'completionTokens',
  'totalTokens',
  'inputTokens',
  'outputTokens',
  'reasoningTokens',
  'cachedInputTokens',
] satisfies (keyof Usage)[]

/** The sums of several turns. */
export function sumOf(turns: readonly Spent[]): Spent {
  const total = (numberOf: (turn: Spent) => number) => turns.reduce((sum, turn) => sum + numberOf(turn), 0)
  const tokenUsage = Object.fromEntries(KEYS.map((key) => [key, total((turn) => turn.tokenUsage[key])])) as never
  return { tokenUsage, cost: total(({ cost }) => cost) }
}
