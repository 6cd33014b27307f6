import { deferred } from '../deferred.ts'
import { ToolExecutionError } from '../errors.ts'
import { onAbort } from '../runtime.ts'
import type { StandardSchema, Tool, ToolContext, ToolHandler } from '../tool.ts'
import { startTimer } from '../transport/timer.ts'
import type { Message, ToolCall } from '../types.ts'

const TIMEOUT_MS = 240_000
const LONGEST_LINE = 500

export const PAUSE = Symbol('pause')

export interface ToolAnswer {
  result: unknown
  isError: boolean
}

export interface ToolScene {
  conversationUuid: string
  messages: Message[]
  /** Aborts when the result is no longer needed. */
  signal: AbortSignal
}

/**
 * Calls a tool handler. Invalid arguments, exceptions, timeouts and an abort become a one-line error result. Rejects
 * only with PAUSE or ToolExecutionError.
 */
export async function callTool(handler: Tool | ToolHandler, call: ToolCall, scene: ToolScene): Promise<ToolAnswer> {
  const tool: Partial<Tool> & Pick<Tool, 'execute'> = typeof handler === 'function' ? { execute: handler } : handler
  const { input, execute, timeout = TIMEOUT_MS, onInvalidArgs } = tool
  const controller = new AbortController()
  const over = deferred<never>()
  const leave = (reason: unknown) => {
    controller.abort(reason)
    over.reject(reason)
  }
  const unfollow = onAbort(scene.signal, () => leave(scene.signal.reason))
  const stopTimer = startTimer(timeout, () => leave(new Error(`${call.name} returned no result within ${timeout} ms`)))
  try {
    const { value, issues } = input ? await validate(input, call) : { value: call.arguments }
    if (issues && onInvalidArgs === 'throw') throw new ToolExecutionError(issues)
    if (issues) return { result: issues, isError: true }
    const context: ToolContext = { ...call, ...scene, signal: controller.signal, pauseExecution }
    const given = await Promise.race([execute(value, context), over.promise])
    // Serialize here, so that the model receives the error for values that JSON cannot represent.
    return { result: JSON.parse(JSON.stringify(given ?? null) ?? 'null'), isError: false }
  } catch (error) {
    if (error === PAUSE) throw error
    if (error instanceof ToolExecutionError) throw Object.assign(error, { call })
    return { result: lineOf(error), isError: true }
  } finally {
    stopTimer()
    unfollow()
  }
}

function pauseExecution(): never {
  throw PAUSE
}

async function validate({ '~standard': schema }: StandardSchema, { name, arguments: args }: ToolCall) {
  const checked = await schema.validate(args)
  if (!checked.issues) return { value: checked.value }
  const issues = checked.issues.map(({ message, path = [] }) => `${path.map(keyOf).join('.') || name}: ${message}`)
  return { value: undefined, issues: lineOf(`Invalid arguments: ${issues.join('; ')}`) }
}

// A path segment is a key or an object with a `key`.
function keyOf(segment: unknown): unknown {
  return typeof segment === 'object' && segment && 'key' in segment ? segment.key : segment
}

// Keep only the first line of the message: the model must not see the stack or other details of this process.
function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return (text.trim().split(/[\r\n]/)[0] || 'The tool failed').slice(0, LONGEST_LINE)
}
