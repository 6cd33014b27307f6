import type * as Promptl from 'promptl-ai'
import { ConfigurationError } from '../index.ts'

// In all other modules, the build replaces `promptl-ai` with this module. The exports are undefined until
// `loadPromptl` has run. If the optional package is missing, only the import in `loadPromptl` fails.
/** @public */
export let Adapters: typeof Promptl.Adapters

/** @throws ConfigurationError if the package is not installed */
export async function loadPromptl(): Promise<void> {
  try {
    ;({ Adapters } = await import('promptl-ai'))
  } catch (cause) {
    throw new ConfigurationError(
      'The messages of a provider need promptl-ai, or pass adapter: "default": npm install promptl-ai@0.12.0',
      { cause },
    )
  }
}
