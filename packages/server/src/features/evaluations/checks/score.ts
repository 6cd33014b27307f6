import type { Check } from '@stet/contract/vocabulary'
import type { EvaluationOwner, TemplateEngine } from '../../templates/template-engine.ts'

/** Unscored is neither a pass nor a fail. */
export type Score =
  | { state: 'scored'; hasPassed: boolean; reason?: string }
  | { state: 'unscored'; code: string; reason?: string }

/** What a run gave. `error` is set for a failed run. */
export interface ScoredAnswer {
  text: string
  /** The parsed answer of a prompt with a schema. */
  object?: unknown
  /** Undefined without a known price. */
  costUsd?: number | undefined
  durationMs: number
  /** `isOwn` if the prompt itself caused the failure. */
  error?: { code: string; isOwn: boolean } | undefined
}

/** The part of an answer that a check judges. */
export interface JudgedValue {
  /** For a part that is not a text, its JSON. */
  text: string
  /** The parsed value. Absent for plain text. */
  json?: unknown
}

/** The checks whose patterns and schemas come from tenants. */
type ForeignCheck = Extract<Check, { type: 'regex' | 'json_schema' }>

/** Runs such a check outside of the server's thread. Unscored `limit-exceeded` if it took too much time or memory. */
export type CheckRunner = (check: ForeignCheck, value: JudgedValue) => Promise<Score>

export function checkRunner(templates: Pick<TemplateEngine, 'applyRule'>, owner: EvaluationOwner): CheckRunner {
  return async (check, { text, json }) => {
    if (check.type === 'regex') {
      const { pattern, flags = '' } = check
      const outcome = await templates.applyRule({ pattern, flags, text }, owner)
      return scoreOf(check, outcome, [`does not match /${pattern}/${flags}`, `matches /${pattern}/${flags}`])
    }
    if (json === undefined) return { state: 'scored', hasPassed: false, reason: 'is not JSON' }
    const outcome = await templates.applyRule({ schema: check.schema, value: json }, owner)
    return scoreOf(check, outcome, [undefined, 'is valid for the schema'])
  }
}

function scoreOf(
  check: ForeignCheck,
  outcome: Awaited<ReturnType<TemplateEngine['applyRule']>>,
  [failed, negated]: [failed: string | undefined, negated: string],
): Score {
  if ('failure' in outcome) {
    return { state: 'unscored', code: outcome.isLimit ? 'limit-exceeded' : 'invalid-check', reason: outcome.failure }
  }
  return scored(check, outcome.broken === null, failed ?? outcome.broken ?? '', negated)
}

/** @param failed why the check fails; `negated` why it fails with `negate`. */
export function scored(
  { negate = false }: { negate?: boolean },
  holds: boolean,
  failed: string,
  negated: string,
): Score {
  if (holds !== negate) return { state: 'scored', hasPassed: true }
  return { state: 'scored', hasPassed: false, reason: negate ? negated : failed }
}
