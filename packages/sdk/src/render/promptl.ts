import type * as Promptl from 'promptl-ai'
import { ConfigurationError } from '../index.ts'

// In all other modules, the build replaces `promptl-ai` with this module. The exports are undefined until
// `loadPromptl` has run. If the optional package is missing, only the import in `loadPromptl` fails.
/** @public */
export let Adapters: typeof Promptl.Adapters
/** @public */
export let Chain: typeof Promptl.Chain
/** @public */
export let CompileError: typeof Promptl.CompileError
/** @public */
export let Parser: typeof Promptl.Parser
/** @public */
export let scan: typeof Promptl.scan

/** @throws ConfigurationError if the engine is not installed */
export async function loadPromptl(): Promise<void> {
  try {
    ;({ Adapters, Chain, CompileError, Parser, scan } = await import('promptl-ai'))
  } catch (cause) {
    throw new ConfigurationError('Rendering needs the prompt engine: npm install promptl-ai@0.12.0', { cause })
  }
}
