/** The port to the prompt language: scans a prompt, and renders one step at a time. */
import type { LocatedIssue } from '@stet/contract/vocabulary'
import { AppError, RunError } from '../../shared/app-error.ts'
import type { Message } from './message.ts'

/** Positions refer to the stored content. */
export type CompileIssue = LocatedIssue

/** A prompt with the texts of all documents that it refers to, directly or indirectly, by path. */
export interface TemplateSource {
  path: string
  content: string
  documents: Readonly<Record<string, string>>
}

/** The messages of a prompt that has only text, role tags and plain names. It is rendered without a worker process. */
export interface SlotPlan {
  messages: readonly SlotMessage[]
  config: Record<string, unknown>
}

interface SlotMessage {
  role: Exclude<Message['role'], 'tool'>
  /** Text outside of tags. White space alone makes no message. */
  isStray: boolean
  pieces: readonly (string | { name: string })[]
}

export interface TemplateScan {
  /** The front matter, unmodified; `{}` if it is missing or invalid. */
  config: Record<string, unknown>
  /** Every free variable, including those of references, in order of appearance. */
  parameters: string[]
  /** Without comments and with references inlined; the content itself if it has neither or cannot be parsed. */
  resolvedContent: string
  /** Paths of the document's own references, relative to the project's root. */
  references: string[]
  /** Referenced paths, at any depth, that `documents` lacks. Load them and scan again. */
  missing: string[]
  usesSteps: boolean
  errors: CompileIssue[]
  /** Repaired faults that the author should fix. */
  warnings: CompileIssue[]
  slots?: SlotPlan | undefined
}

export interface TemplateStepInput {
  source: TemplateSource
  /** The slot plan from the scan of the same source. */
  slots?: SlotPlan | undefined
  parameters: Record<string, unknown>
  /** The instant of `$now`, ISO 8601: the same in the whole run. */
  now: string
  /** The `state` of the previous step; absent for the first step. */
  state?: unknown
  /** All messages of the previous model step, tool calls included. The last one is the assistant's final answer. */
  answer?: Message[]
}

export type TemplateStep =
  | {
      done: false
      /** The messages of the model call. */
      input: Message[]
      /** The messages that this step adds to the recorded conversation. */
      added: Message[]
      /** Front matter with the attributes of the step over it. */
      config: Record<string, unknown>
      /** Hand back to the next step; JSON. */
      state: unknown
    }
  | { done: true; added: Message[] }

/** The workspace and key that an evaluation counts against. Workspaces take turns, and so do the keys of each. */
export interface EvaluationOwner {
  workspaceId: number
  /** Absent if unknown, for example in a queued run of an older release. */
  apiKeyId?: number | undefined
  /** Aborted when the caller has left. A queued evaluation is then dropped and a running one ended. */
  signal?: AbortSignal | undefined
  /** Part of a started run: waits for its turn and is never refused. */
  isRun?: boolean | undefined
}

export class EvaluationCanceled extends AppError {
  constructor() {
    super('client-disconnected')
  }
}

export interface TemplateEngine {
  /**
   * A bad prompt does not throw: its faults are listed in `errors`.
   * @throws AppError ServiceUnavailableError when too much is being evaluated; EvaluationCanceled.
   */
  scan(source: TemplateSource, owner: EvaluationOwner): Promise<TemplateScan>
  /**
   * The first step is never `done`: a prompt that renders no message gives an empty `input`.
   * @throws RunError `chain_compile_error` when rendering fails, with the issue's fields as details; AppError
   * ServiceUnavailableError when too much is being evaluated; EvaluationCanceled.
   */
  step(input: TemplateStepInput, owner: EvaluationOwner): Promise<TemplateStep>
  /**
   * For work on many prompts, which also costs time in the server itself. Runs one per workspace at a time.
   * @throws AppError ServiceUnavailableError; EvaluationCanceled for a caller that left before its turn; what `work` throws.
   */
  inTurn<T>(owner: EvaluationOwner, work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** @throws RunError `chain_compile_error` */
export function assertCompiles(scan: TemplateScan): void {
  const [issue] = scan.errors
  if (!issue) return
  const { code, message, path, line, column, endLine, endColumn, frame } = issue
  const end = { ...(endLine !== undefined && { endLine }), ...(endColumn !== undefined && { endColumn }) }
  throw new RunError('chain_compile_error', `${path}:${line}:${column} ${message}`, {
    details: { compileCode: code, path, line, column, ...end, frame },
  })
}

export const USER_MESSAGE_VARIABLE = 'LATITUDE_USER_MESSAGE'

/** The source to run when there is a user message; positions of the prompt's own text stay. */
export function withUserMessage(source: TemplateSource, scan: Pick<TemplateScan, 'parameters'>): TemplateSource {
  if (scan.parameters.includes(USER_MESSAGE_VARIABLE)) return source
  return { ...source, content: `${source.content}\n<user>{{ ${USER_MESSAGE_VARIABLE} }}</user>` }
}
