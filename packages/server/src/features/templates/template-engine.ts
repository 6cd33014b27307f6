import type { LocatedIssue, Message, RunOverrides } from '@stet/contract/vocabulary'
import type { PromptIssue, PromptScan, PromptSource } from '@stet/template'
import { AppError, RunError } from '../../shared/app-error.ts'

/** Positions refer to the stored content. */
export type CompileIssue = LocatedIssue
export type TemplateSource = PromptSource
export type { PromptIssue }

export interface TemplateScan extends PromptScan {
  /** Set if the evaluation failed for other reasons than the texts, for example because the thread ended. */
  isTemporary?: true
}

export interface TemplateStepInput {
  source: TemplateSource
  parameters: Record<string, unknown>
  /** The value of `$now` in ISO 8601, equal for the whole run. */
  now: string
  /** The previous step's `state`. Absent for the first step. */
  state?: unknown
  /** All messages of the previous model step, including tool calls. The assistant's final answer is last. */
  answer?: Message[]
  /** Settings that rank above the front matter and below the step's attributes. */
  overrides?: RunOverrides
}

export type TemplateStep =
  | {
      done: false
      input: Message[]
      /** The messages that this step adds to the stored conversation. */
      added: Message[]
      /** The front matter, overridden by the run's settings and then by the step's attributes. */
      config: Record<string, unknown>
      /** JSON to pass to the next step. */
      state: unknown
    }
  | { done: true; added: Message[] }

/** The workspace and API key whose limits apply. Workspaces take turns, and so do the API keys of each workspace. */
export interface EvaluationOwner {
  workspaceId: number
  /** Absent for reads that no key of the workspace asked for. */
  apiKeyId?: number | undefined
  /** Aborted when the caller disconnects. The abort drops a queued evaluation. */
  signal?: AbortSignal | undefined
  /**
   * True for an evaluation of a started run, to which no queue limit applies. While the machine is too busy for it, it is
   * repeated until `signal` aborts.
   */
  isRun?: boolean | undefined
}

export class EvaluationCanceled extends AppError {
  constructor() {
    super('client-disconnected')
  }
}

export interface HashedText {
  path: string
  contentHash: string
}

/** A compilation of a text, with the hashes of all texts that it used. The hash is null for a missing text. */
export interface Compilation {
  scan: TemplateScan
  hashes: ReadonlyMap<string, string | null>
}

/** A scan without everything whose size depends on the referenced texts. */
export type KnownText = Pick<TemplateScan, 'config' | 'parameters' | 'references' | 'errors' | 'issues'>

/** Findings of the latest compilations on this server. Keeps hashes instead of texts, and starts empty. */
export interface KnownTexts {
  /** Ignores a temporary failure. */
  note(workspaceId: number, text: HashedText, compilation: Compilation): void
  /** Lists the paths whose hashes `find` will need. */
  pathsFor(workspaceId: number, text: HashedText): Iterable<string>
  /**
   * Returns undefined unless the text was compiled with the same texts as references.
   * @param hashAt returns the hash of the text at a path; undefined if there is none.
   */
  find(workspaceId: number, text: HashedText, hashAt: (path: string) => string | undefined): KnownText | undefined
}

export interface StructuredAnswer {
  schema: Record<string, unknown>
  /** The parsed answer. */
  value: unknown
}

/** The first issues of an answer, or the reason why the schema cannot be applied. */
export type AnswerCheck = { issues: { path: string; message: string }[] } | { failure: string }

/** A rule for a value, with a pattern or a schema of a tenant. */
export type ForeignRule = { pattern: string; flags: string; text: string } | StructuredAnswer

/** Why the value breaks the rule, null if it does not, or why the rule cannot be applied. */
export type RuleOutcome = { broken: string | null } | { failure: string; isLimit: boolean }

export interface TemplateEngine {
  known: KnownTexts
  /** Returns compile errors in `errors`. @throws AppError ServiceUnavailableError; EvaluationCanceled. */
  scan(source: TemplateSource, owner: EvaluationOwner): Promise<TemplateScan>
  /**
   * The first step is never `done`. If the first step renders no message, its `input` is empty.
   * @throws RunError `chain_compile_error` if rendering fails, with the issue's fields as details; AppError
   * ServiceUnavailableError under overload or while the server stops; EvaluationCanceled.
   */
  step(input: TemplateStepInput, owner: EvaluationOwner): Promise<TemplateStep>
  /** Schemas and their patterns come from tenants, so they are applied outside of the server's thread. @throws as `step`. */
  checkAnswer(answer: StructuredAnswer, owner: EvaluationOwner): Promise<AnswerCheck>
  /** Applies the rule outside of the server's thread, too. @throws as `step`. */
  applyRule(rule: ForeignRule, owner: EvaluationOwner): Promise<RuleOutcome>
  /**
   * Runs `work` on many prompts. Each workspace runs one `work` at a time, because such work also costs time in the
   * server process.
   * @throws AppError ServiceUnavailableError; EvaluationCanceled if the caller disconnected before its turn; errors of
   * `work`.
   */
  inTurn<T>(owner: EvaluationOwner, work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

export class CompileFailure extends RunError {
  readonly issue: CompileIssue

  constructor(issue: CompileIssue) {
    const { code, message, ...position } = issue
    const { path, line, column } = position
    super('chain_compile_error', `${path}:${line}:${column} ${message}`, {
      details: { compileCode: code, ...position },
    })
    this.issue = issue
  }
}

/** @throws RunError `chain_compile_error` */
export function assertCompiles(scan: TemplateScan): void {
  const [issue] = scan.errors
  if (issue) throw new CompileFailure(issue)
}

export const userMessageVariable = 'LATITUDE_USER_MESSAGE'

/** Appends the user message, unless the prompt uses its variable. Positions in the prompt's own text stay valid. */
export function withUserMessage(source: TemplateSource, scan: Pick<TemplateScan, 'parameters'>): TemplateSource {
  if (scan.parameters.includes(userMessageVariable)) return source
  return { ...source, content: `${source.content}\n<user>{{ ${userMessageVariable} }}</user>` }
}
