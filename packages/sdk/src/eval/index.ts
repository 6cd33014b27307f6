export { defineEval, type EvalDefinition, type EvalOptions } from './define-eval.ts'
export { type JudgeCriteria, judgePrompt } from './judge-prompt.ts'
export { runScorers, type ScorerVerdict } from './run-scorers.ts'
export type { NamedScore, ScoredRun, Scorer, ScorerArgs, ScorerResult } from './scorer.ts'
