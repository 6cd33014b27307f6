export { CallerLimitError, type CompileIssue, CompileIssueError } from './compile-error.ts'
export { type CompiledPrompt, type CompileLimits, compilePrompt, type PromptSource } from './compiled-prompt.ts'
export type { RenderedMessage, RenderedPart } from './evaluate/messages.ts'
export {
  type ChainState,
  type RenderedStep,
  renderStep,
  type StepInput,
} from './evaluate/render-step.ts'
export type { PromptIssue } from './front-matter/prompt-issues.ts'
export { resolveReferencePath } from './parse/references.ts'
export { type PromptScan, scan, scanOf, step } from './scan-and-step.ts'
