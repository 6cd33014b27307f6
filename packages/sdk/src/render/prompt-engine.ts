/** The parts of the prompt engine that `render` uses. The package contains it once, as CommonJS, which both formats import. */
export {
  CallerLimitError,
  type CompiledPrompt,
  CompileIssueError,
  compilePrompt,
  type RenderedMessage,
  type RenderedStep,
  renderStep,
  type StepInput,
} from '@stet/template'
export { readParameters } from '@stet/template/parameters'
