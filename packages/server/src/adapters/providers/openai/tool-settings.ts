import { parallelCallsOf, toolChoiceOf } from '../request/tool-choice.ts'

/** What a body says of the use of its tools. Only beside tools: without them services refuse both keys. */
export function toolSettings(
  settings: Record<string, unknown>,
  /** How the protocol names the one tool that must be called. */
  named: (choice: { name: string }) => Record<string, unknown>,
): Record<string, unknown> {
  const choice = toolChoiceOf(settings)
  const parallel = parallelCallsOf(settings)
  return {
    ...(choice === undefined ? {} : { tool_choice: typeof choice === 'string' ? choice : named(choice) }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
  }
}
