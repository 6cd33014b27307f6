/** Loads an ES module. The export `tools`, otherwise the default export, maps names to tools. */

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defined } from '@stet/template/defined'
import { z } from 'zod'
import type { ServerTool, ServerTools } from '../../features/runs/tools/tool.ts'

const Definition = z.object({
  description: z.string().min(1).optional(),
  parameters: z.record(z.string(), z.unknown()).default({}),
  execute: z.custom<ServerTool['execute']>((value) => typeof value === 'function', 'must be a function'),
})
// A plain name, or a name with one folder such as `latitude/search`.
const nameForm = /^[A-Za-z0-9_-]{1,64}(\/[A-Za-z0-9_-]{1,64})?$/

/** @throws Error with one line about the problem in the module or in a tool. */
export async function loadServerTools(file: string | undefined): Promise<ServerTools> {
  if (file === undefined) return new Map()
  const registered = await exported(file)
  return new Map(Object.entries(registered).map(([name, value]) => [name, toolOf(file, name, value)]))
}

async function exported(file: string): Promise<object> {
  let module: { default?: unknown; tools?: unknown }
  try {
    module = await import(pathToFileURL(resolve(file)).href)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    throw new Error(`STET_TOOLS: the module cannot be loaded: ${reason}`, { cause })
  }
  const tools = module.tools ?? module.default
  if (typeof tools === 'object' && tools !== null && !Array.isArray(tools)) return tools
  throw new Error('STET_TOOLS: the module must export its tools, by name, as `tools` or as its default')
}

function toolOf(file: string, name: string, value: unknown): ServerTool {
  if (!nameForm.test(name)) throw new Error(`STET_TOOLS: '${name}' is no name for a tool (in ${file})`)
  const read = Definition.safeParse(value)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`STET_TOOLS: the tool '${name}' is not usable: ${issue?.path.join('.')} ${issue?.message}`)
  }
  const { description, parameters } = read.data
  const { execute } = value as Pick<ServerTool, 'execute'>
  return {
    name,
    ...defined({ description }),
    parameters: { type: 'object', ...parameters },
    // Calls `execute` as a method, so that a tool can keep state in its object.
    execute: (args, context) => execute.call(value, args, context),
  }
}
