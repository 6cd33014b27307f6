import { parallelCallsOf, toolChoiceOf } from '../request/tool-choice.ts'

/** The tool-related keys of a body. Services reject both keys in a request without tools. */
export function toolSettings(
  settings: Record<string, unknown>,
  /** The protocol's notation for the one tool that must be called. */
  named: (choice: { name: string }) => Record<string, unknown>,
): Record<string, unknown> {
  const choice = toolChoiceOf(settings)
  const parallel = parallelCallsOf(settings)
  return {
    ...(choice === undefined ? {} : { tool_choice: typeof choice === 'string' ? choice : named(choice) }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
  }
}
