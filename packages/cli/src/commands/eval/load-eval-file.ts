import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EvalDefinition } from '@stet/sdk/eval'
import { CliError } from '../../exit-code.ts'
import { isJsonObject } from '../../settings/json-file.ts'

export interface EvalFile {
  /** The first part of the names of its evaluations. */
  name: string
  definition: EvalDefinition
}

/** @throws CliError usage if Node cannot import the file, or if it does not export an eval */
export async function loadEvalFile(file: string, cwd: string): Promise<EvalFile> {
  let module: Record<string, unknown>
  try {
    module = await import(pathToFileURL(resolve(cwd, file)).href)
  } catch (error) {
    throw unusable(file, error)
  }
  // A file that was compiled to CommonJS has its default export inside of the module's.
  const nested = isJsonObject(module['default']) ? module['default']['default'] : undefined
  const definition = [module['default'], nested].find(isDefinition)
  if (definition) return { name: basename(file), definition }
  throw new CliError('usage', `--file: ${file} does not export an eval`, {
    hint: "write: export default defineEval('<path>', { scorers: { … } })",
  })
}

// The file may use another copy of the SDK, so that only the form can be checked.
function isDefinition(value: unknown): value is EvalDefinition {
  if (!isJsonObject(value)) return false
  const { path, scorers, threshold } = value
  if (typeof path !== 'string' || typeof threshold !== 'number' || !isJsonObject(scorers)) return false
  return Object.values(scorers).every((scorer) => typeof scorer === 'function')
}

function unusable(file: string, error: unknown): CliError {
  const code = isJsonObject(error) ? error['code'] : undefined
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    return new CliError('usage', `--file: Node ${process.versions.node} cannot import ${file}`, {
      hint: `use Node 22.18 or later, or install tsx and run NODE_OPTIONS="--import tsx" stet eval, or write ${file.replace(/\.[cm]?tsx?$/, '.mjs')}`,
      cause: error,
    })
  }
  const text = error instanceof Error ? error.message : String(error)
  const hint =
    code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' ? 'Node only removes types: avoid enums, or use tsx' : undefined
  return new CliError('usage', `--file: cannot import ${file}: ${text}`, { cause: error, ...(hint && { hint }) })
}
