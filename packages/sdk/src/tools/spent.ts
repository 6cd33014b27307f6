import type { RunResult, Usage } from '../types.ts'

export type Spent = Pick<RunResult, 'tokenUsage' | 'cost'>

export const usageKeys = [
  'promptTokens',
  'completionTokens',
  'totalTokens',
  'inputTokens',
  'outputTokens',
  'reasoningTokens',
  'cachedInputTokens',
] satisfies (keyof Usage)[]

export function sumOf(rounds: readonly Spent[]): Spent {
  const total = (numberOf: (round: Spent) => number) => rounds.reduce((sum, round) => sum + numberOf(round), 0)
  const tokenUsage = Object.fromEntries(usageKeys.map((key) => [key, total((round) => round.tokenUsage[key])])) as never
  return { tokenUsage, cost: total(({ cost }) => cost) }
}
