/** Whether the model may, must or must not call tools, in any notation that prompts use. */
import { asObject, asText } from '../answer/json.ts'

export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

const words: Readonly<Record<string, ToolChoice>> = {
  auto: 'auto',
  none: 'none',
  required: 'required',
  any: 'required',
}

/** Undefined if the prompt does not set it, or sets an unknown value. */
export function toolChoiceOf(settings: Record<string, unknown>): ToolChoice | undefined {
  const written = settings['toolChoice'] ?? settings['tool_choice']
  const choice = asObject(written)
  const word = typeof written === 'string' ? written : asText(choice['type'])
  if (Object.hasOwn(words, word)) return words[word]
  const name = asText(asObject(choice['function'])['name']) || asText(choice['name']) || asText(choice['toolName'])
  return name === '' ? undefined : { name }
}

/** Whether one response may call several tools; undefined if not set. */
export function parallelCallsOf(settings: Record<string, unknown>): boolean | undefined {
  const written = settings['parallelToolCalls'] ?? settings['parallel_tool_calls']
  return typeof written === 'boolean' ? written : undefined
}
