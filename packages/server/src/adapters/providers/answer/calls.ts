import type { FinishReason, ModelChunk, PartSeal } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { parseArguments } from '../json.ts'
import { brokenInTheMiddle } from './failure.ts'

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

const complete: readonly FinishReason[] = ['stop', 'tool-calls', 'unknown']

/**
 * Adds the calls of an answer. If the answer was cut off inside a call, it adds none, because the model has not said
 * everything that belongs together.
 * @returns the finish reason. Several services report `stop` although the model called tools.
 * @throws ProviderError `malformed` for half a call in an answer without a finish reason.
 */
export function endCalls(calls: readonly HeldCall[], finishReason: FinishReason, into: ModelChunk[]): FinishReason {
  if (calls.length === 0) return finishReason
  const parsed = calls.map((call) => ({ ...call, args: parseArguments(call.rawArgs) }))
  if (finishReason === 'unknown' && parsed.some(({ args }) => args === undefined)) throw brokenInTheMiddle()
  const isCut = !complete.includes(finishReason)
  // A call without arguments may be one whose arguments are missing.
  if (isCut && parsed.some(({ args = {} }) => Object.keys(args).length === 0)) return finishReason
  for (const { id, name: toolName, args, rawArgs, seal } of parsed) {
    into.push({ type: 'tool-call', id, toolName, args, rawArgs, ...(seal && { seal }) })
  }
  return isCut ? finishReason : 'tool-calls'
}
