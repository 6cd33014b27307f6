import type { CompileIssue } from './compile-error.ts'
import { type CompiledPrompt, compilePrompt, type PromptSource } from './compiled-prompt.ts'
import { type RenderedStep, renderStep, type StepInput } from './evaluate/render-step.ts'
import type { PromptIssue } from './front-matter/prompt-issues.ts'
import { type StepAgents, stepAgentsOf } from './syntax/step-agents.ts'

export interface PromptScan {
  /** The parsed front matter; `{}` if it is missing or invalid. */
  config: Record<string, unknown>
  /** All free variables in order of appearance, including those in the attributes of references. */
  parameters: string[]
  /** The content without comments and with references inlined; unchanged if parsing or inlining fails. */
  resolvedContent: string
  /** Paths of the document's own references, relative to the project's root. */
  references: string[]
  /** Referenced paths, at any depth, that `documents` lacks. Load them and scan again. */
  missing: string[]
  usesSteps: boolean
  /** Empty if there are errors. */
  stepAgents: StepAgents
  errors: CompileIssue[]
  /** Repaired faults that the author should fix. */
  warnings: CompileIssue[]
  /** At most 20, errors first. A run refuses a prompt with an error. */
  issues: PromptIssue[]
}

export function scanOf(prompt: CompiledPrompt): PromptScan {
  const { config, parameters, resolvedContent, references, missing, usesSteps, issues: errors, warnings } = prompt
  const issues = prompt.promptIssues()
  const stepAgents = stepAgentsOf(prompt.program?.nodes ?? [])
  return { config, parameters, resolvedContent, references, missing, usesSteps, stepAgents, errors, warnings, issues }
}

/**
 * Reads a prompt without rendering it.
 * @example scan({ path: 'hello', content: 'Hi {{ name }}', documents: {} }).parameters // ['name']
 */
export function scan(source: PromptSource): PromptScan {
  return scanOf(compilePrompt(source))
}

/**
 * Renders the next step of a prompt.
 * @throws CompileIssueError if the prompt does not compile or rendering fails
 * @example await step({ path: 'hello', content: 'Hi', documents: {} }, { parameters: {}, now: '2026-01-01T00:00:00Z' })
 */
export function step(source: PromptSource, input: StepInput): RenderedStep {
  return renderStep(compilePrompt(source), input)
}
