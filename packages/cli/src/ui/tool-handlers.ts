import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ToolHandler, ToolMap } from '@stet/sdk'
import { CliError } from '../exit-code.ts'
import { isJsonObject } from '../settings/json-file.ts'

/** Imports a module; its exported functions, and those of an exported default object, are handlers. */
export async function loadToolHandlers(file: string, cwd: string): Promise<ToolMap> {
  let module: Record<string, unknown>
  try {
    module = await import(pathToFileURL(resolve(cwd, file)).href)
  } catch (error) {
    throw new CliError('usage', `--tools: cannot import ${file}: ${error instanceof Error ? error.message : error}`)
  }
  const { default: object, ...named } = module
  const entries = Object.entries({ ...(isJsonObject(object) ? object : {}), ...named })
  const handlers = entries.filter((entry): entry is [string, ToolHandler] => typeof entry[1] === 'function')
  if (handlers.length === 0) throw new CliError('usage', `--tools: ${file} exports no function`)
  return Object.fromEntries(handlers)
}
