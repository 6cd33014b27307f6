import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ContentPart, Message, ToolCall } from '@stet/sdk'
import { CliError } from '../exit-code.ts'
import { isJsonObject } from '../settings/json-file.ts'

/** Answers one call of a tool; what it throws is told to the model. */
type ToolHandler = (args: Record<string, unknown>) => unknown

/** Handlers by the name of their tool. */
export type ToolHandlers = ReadonlyMap<string, ToolHandler>

/** Imports a module; its exported functions, and those of an exported default object, are handlers. */
export async function loadToolHandlers(file: string, cwd: string): Promise<ToolHandlers> {
  let module: Record<string, unknown>
  try {
    module = await import(pathToFileURL(resolve(cwd, file)).href)
  } catch (error) {
    throw new CliError('usage', `--tools: cannot import ${file}: ${error instanceof Error ? error.message : error}`)
  }
  const { default: object, ...named } = module
  const entries = Object.entries({ ...(isJsonObject(object) ? object : {}), ...named })
  const handlers = new Map(entries.filter((entry): entry is [string, ToolHandler] => typeof entry[1] === 'function'))
  if (handlers.size === 0) throw new CliError('usage', `--tools: ${file} exports no function`)
  return handlers
}

/** The message that answers the calls; undefined when a handler is missing, and the calls stay open for the caller. */
export async function answerToolCalls(
  calls: readonly ToolCall[],
  handlers: ToolHandlers,
): Promise<Message | undefined> {
  if (calls.length === 0 || !calls.every(({ name }) => handlers.has(name))) return undefined
  return { role: 'tool', content: await Promise.all(calls.map((call) => answerOf(call, handlers))) }
}

async function answerOf({ id, name, arguments: args }: ToolCall, handlers: ToolHandlers): Promise<ContentPart> {
  const part = { type: 'tool-result' as const, toolCallId: id, toolName: name }
  try {
    return { ...part, result: (await handlers.get(name)?.(args)) ?? null }
  } catch (error) {
    return { ...part, result: error instanceof Error ? error.message : String(error), isError: true }
  }
}
