import type { Message, OutputOf, ParamsOf, PromptRegistry, ToolCall } from '../index.ts'
import type { IsText } from '../registry.ts'

/** The run that produced an answer. */
export interface ScoredRun {
  conversationUuid: string
  /** In USD. Null if the price of the model is unknown. */
  costUsd: number | null
  durationMs: number | null
}

/** What a scorer reads: one answer, and the example that it answers. */
export interface ScorerArgs<R = PromptRegistry, P extends string = string> {
  /** The same as `parameters`, under the name that scorers of other libraries use. */
  input: ParamsOf<R, P>
  parameters: ParamsOf<R, P>
  /** The messages of the example. */
  messages: Message[]
  /** The text of the answer. */
  output: string
  /** The answer of a prompt with a `schema`. */
  object: IsText<OutputOf<R, P>> extends true ? unknown : OutputOf<R, P>
  /**
   * What the example expects. If the prompt responds with text, this is text too: other values arrive as JSON. Undefined
   * if the example expects nothing.
   */
  expected: (IsText<OutputOf<R, P>> extends true ? string : OutputOf<R, P>) | undefined
  toolCalls: ToolCall[]
  run: ScoredRun
}

/** The result form of `autoevals`. A score of null means that the scorer does not apply. */
export interface NamedScore {
  name?: string
  score: number | null
  /** A text under `reason` or `rationale` is shown as the reason. */
  metadata?: Record<string, unknown>
}

/** A boolean, a number from 0 to 1, or a named score. Null means that the scorer does not apply to this answer. */
export type ScorerResult = boolean | number | NamedScore | null

/** Scores one answer. A thrown error leaves it unscored. */
export type Scorer<R = PromptRegistry, P extends string = string> = (
  args: ScorerArgs<R, P>,
) => ScorerResult | PromiseLike<ScorerResult>
