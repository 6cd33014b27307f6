/** Says, before anything is sent, what a provider cannot take. */
import type { ResolvedProvider } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'

/** @param where the rest of the sentence, e.g. `in system messages`. */
export function unsupported(provider: ResolvedProvider, type: string, where: string): ProviderError {
  return new ProviderError('unsupported', `Provider '${provider.name}' takes no ${type} parts ${where}`)
}

export function toolsRefused(provider: ResolvedProvider): ProviderError {
  return new ProviderError('unsupported', `Provider '${provider.name}' takes no tools`)
}

/** A tool's result as text, which is what every protocol takes. */
export function resultText(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}
