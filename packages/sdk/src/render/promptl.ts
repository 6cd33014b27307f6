import type * as Promptl from 'promptl-ai'
import { ConfigurationError } from '../index.ts'

// The build replaces `promptl-ai` by this module everywhere except here. Its names are empty until it is loaded. If the
// optional package is missing, a bundler leaves this one import to run time instead of failing at each import.
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

/** Loads the engine. @throws ConfigurationError when it is not installed */
export async function loadPromptl(): Promise<void> {
  try {
    ;({ Adapters, Chain, CompileError, Parser, scan } = await import('promptl-ai'))
  } catch (cause) {
    throw new ConfigurationError('Rendering needs the prompt engine: npm install promptl-ai@0.12.0', { cause })
  }
}
