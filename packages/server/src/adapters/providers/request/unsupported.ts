/** Reports what a provider cannot accept, before anything is sent. */
import type { ResolvedProvider } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'

/** @param where the end of the sentence, e.g. `in system messages`. */
export function unsupported(provider: ResolvedProvider, type: string, where: string): ProviderError {
  return new ProviderError('unsupported', `Provider '${provider.name}' takes no ${type} parts ${where}`)
}

export function toolsRefused(provider: ResolvedProvider): ProviderError {
  return new ProviderError('unsupported', `Provider '${provider.name}' takes no tools`)
}

/** A tool's result as text, which every protocol accepts. */
export function resultText(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}
