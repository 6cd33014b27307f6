import type { FinishReason, ModelChunk, PartSeal } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { type Json, parseArguments } from '../json.ts'
import { keys } from '../request/settings.ts'
import { brokenInTheMiddle, lostCall } from './failure.ts'

/** A call of a tool, held until the end of the answer. */
export interface HeldCall {
  id: string
  name: string
  rawArgs: string
  seal?: PartSeal
}

const mostCalls = 1_000

/** Searching among calls costs the square of their number. @throws ProviderError `malformed` for too many calls. */
export function requireRoom(calls: number): void {
  if (calls >= mostCalls)
    throw new ProviderError('malformed', `The provider called more than ${mostCalls} tools at once`)
}

/** Types of content under which other protocols send calls. An answer without them would lack a call. */
export const foreignCalls = keys('tool_use tool_call tool_calls function_call')

const complete: readonly FinishReason[] = ['stop', 'tool-calls', 'unknown']

/**
 * Returns the finish reason of an answer without the calls that its reason announces. A call may be lost: Anthropic's
 * API has sent such answers (anthropics/claude-code#40240), and vLLM sends them if no call could be parsed
 * (vllm-project/vllm#53255). If the request offered no tools, no call can be lost, and the text is the answer: LocalAI
 * sends this reason with plain texts (mudler/LocalAI#6218).
 * @param isLost true if the request offered tools, or if the answer is empty.
 * @param said the finish reason and the text, as the provider sent them.
 * @throws ProviderError `malformed` for a lost call.
 */
export function reasonWithoutCalls(isLost: boolean, said: Json, token: string): FinishReason {
  if (isLost) throw lostCall(JSON.stringify(said), token)
  return 'stop'
}

/**
 * Adds the calls of an answer. If the answer was cut off inside a call, it adds none, because calls of one answer
 * belong together.
 * @returns the finish reason. Several services report `stop` although the model called tools.
 * @throws ProviderError `malformed` for half a call in an answer without a finish reason.
 */
export function endCalls(calls: readonly HeldCall[], finishReason: FinishReason, into: ModelChunk[]): FinishReason {
  if (calls.length === 0) return finishReason
  const parsed = calls.map((call) => ({ ...call, args: parseArguments(call.rawArgs) }))
  const isHalf = ({ args, rawArgs }: (typeof parsed)[number]) => args === undefined || rawArgs.trim() === ''
  if (finishReason === 'unknown' && parsed.some(isHalf)) throw brokenInTheMiddle()
  const isCut = !complete.includes(finishReason)
  // A call without arguments may be one whose arguments are missing.
  if (isCut && parsed.some(({ args = {} }) => Object.keys(args).length === 0)) return finishReason
  for (const { id, name: toolName, args, rawArgs, seal } of parsed) {
    into.push({ type: 'tool-call', id, toolName, args, rawArgs, ...(seal && { seal }) })
  }
  return isCut ? finishReason : 'tool-calls'
}
