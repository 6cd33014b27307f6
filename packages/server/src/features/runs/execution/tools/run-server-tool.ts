/** Calls a tool of the operator's module; whatever it does, the run gets a JSON value or an error in time. */
import { storableJson } from '../../../../shared/storable-json.ts'
import type { Needs } from '../../../deps.ts'
import type { ToolCall } from '../../../templates/message.ts'
import { timedOut } from './shown-calls.ts'
import type { ServerTool, ToolOutcome } from './step-tool.ts'
import type { ToolScope } from './tool-scope.ts'

const maxResultCharacters = 262_144
const shownCharacters = 2_000

/** @throws the reason of `signal`, nothing else. */
export async function runServerTool(
  deps: Needs<'runSettings' | 'log'>,
  { tool, call, scope, signal }: { tool: ServerTool; call: ToolCall; scope: ToolScope; signal: AbortSignal },
): Promise<ToolOutcome> {
  const { toolWaitMs } = deps.runSettings
  const { conversationUuid, workspaceId, projectId } = scope
  const limit = AbortSignal.timeout(toolWaitMs)
  const both = AbortSignal.any([signal, limit])
  const context = { signal: both, toolCallId: call.id, conversationUuid, workspaceId, projectId }
  try {
    const value = await Promise.race([execute(tool, call, context), rejection(both)])
    return { result: plainJson(value), isError: false }
  } catch (error) {
    signal.throwIfAborted()
    if (limit.aborted) return timedOut(toolWaitMs)
    deps.log.warn('run.server-tool-failed', { tool: tool.name, reason: error instanceof Error ? error.name : '' })
    const failure = (error instanceof Error ? error.message : String(error)).slice(0, shownCharacters)
    return { result: failure, isError: true, failure }
  }
}

// A tool that throws before its first await fails like any other.
async function execute(
  tool: ServerTool,
  call: ToolCall,
  context: Parameters<ServerTool['execute']>[1],
): Promise<unknown> {
  return tool.execute(call.arguments, context)
}

function plainJson(value: unknown): unknown {
  const text = storableJson(value ?? null)
  if (text === undefined) throw new Error('The tool gave no JSON value')
  if (text.length > maxResultCharacters) throw new Error(`The result is larger than ${maxResultCharacters} characters`)
  return JSON.parse(text)
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(signal.reason)
    signal.addEventListener('abort', fail, { once: true })
    if (signal.aborted) fail()
  })
}
