import type { CompileIssue, GateVerdict, KeyScope, LiveConflict, ReleaseCheck, ReleaseFinding } from './types.ts'

interface Issues {
  issues: { path: string; message: string }[]
}
interface Path {
  path: string
}
interface Limit {
  limit: number
}
interface RetryAfter {
  /** Seconds. */
  retryAfter: number
}
/** The hash that the call expected, and the actual one. The other keys are those of a call with `merge`. */
interface Conflicts {
  conflicts: ({ path: string; expected: string; actual: string | null } & Partial<Merged>)[]
}
interface LiveConflicts {
  conflicts: (Omit<LiveConflict, keyof Merged> & Partial<Merged>)[]
}
type Merged = Pick<LiveConflict, 'merged' | 'regions' | 'baseUnknown' | 'skipped'>
interface Parameters {
  missing: string[]
  invalid: { name: string; expected: string }[]
}
interface UnfitRow extends Parameters {
  exampleUuid: string
  name: string
  /** An index in the arms of the request. */
  arm: number
  reason: string
}
interface Range {
  min: number
  max: number
}

/** The `details` of an error by its `reason`. The details of other causes are empty, or those of a failed run. */
export interface ErrorDetails {
  'refused-query': Issues
  'invalid-query': Issues
  'invalid-body': Issues
  'invalid-idempotency-key': Issues
  'invalid-path': Path
  'path-too-long': Limit
  'invalid-tag': { tag: string }
  'repeated-path': Path
  'base-mismatch': Path
  'unknown-tool-call': { toolCallId: string }
  'missing-scope': { required: KeyScope }
  'missing-publish-scope': { required: KeyScope }
  'unknown-document': Path & { suggestions: string[] }
  'method-not-allowed': { method: string; allow: string[] }
  'idempotency-in-progress': RetryAfter
  'path-taken': Path
  'base-changed': Conflicts
  'live-text-changed': Conflicts
  'others-changed': { paths: string[] }
  'live-changed': LiveConflicts
  gate: { gates: GateVerdict[] }
  moved: { current: string | null }
  'conversation-busy': RetryAfter
  'name-taken': { name: string }
  'example-name-taken': { name: string }
  'too-many-examples': Limit & { unit: string }
  'experiment-active': { experimentUuid: string }
  'evaluation-limit': Limit
  'too-many-experiments': Limit
  'if-match-failed': Path
  'if-none-match-failed': Path
  'body-too-large': Limit
  'list-too-large': Limit
  'release-refused': { checks: { name: ReleaseCheck; state: 'blocked'; findings: ReleaseFinding[] }[] }
  'no-judge': { name: string }
  'not-a-judge': Path & { fault: string }
  'draft-does-not-compile': { documents: { path: string; documentUuid: string; errors: CompileIssue[] }[] }
  'missing-parameters': Parameters
  'invalid-parameters': Parameters
  'rows-do-not-fit': { count: number; rows: UnfitRow[] }
  'too-many-runs': Limit & { runs: number }
  'budget-too-high': Limit
  'not-a-code-evaluation': { name: string }
  'score-out-of-range': Range
  'score-not-binary': Range
  'built-in-evaluation': { name: string }
  'rate-limited': Limit & RetryAfter
  'failed-authentications': RetryAfter
  'too-many-bytes': Limit & RetryAfter
  'workspace-full': { limitMb: number; storedMb: number } & RetryAfter
  'too-many-streams': Limit & RetryAfter
  unforeseen: { requestId: string }
  'not-ready': { checks: Record<string, unknown> }
  'queue-full': RetryAfter
  'queue-unavailable': RetryAfter
  'too-many-evaluations': { limitOf: string } & RetryAfter
  'too-many-stats': { limitOf: string } & RetryAfter
  'run-out-of-reach': RetryAfter
}
