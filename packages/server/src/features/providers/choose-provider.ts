/** Finds the provider and the model of a prompt: by name, or by the defaults of project and server. */
import { RunError } from '../../shared/app-error.ts'
import type { ProviderEntry } from './list-providers.ts'
import { providerNameKey } from './provider-key.ts'

export interface Choice {
  /** The document, named in errors. */
  path?: string
  /** From the prompt. */
  named?: string | undefined
  projectDefault?: string | null | undefined
  serverDefault?: string | undefined
}

/** An exact match, or the only match that ignores case. */
export function matchProvider(entries: readonly ProviderEntry[], name: string): ProviderEntry | undefined {
  const exact = entries.find((entry) => entry.name === name)
  if (exact) return exact
  const key = providerNameKey(name)
  const similar = entries.filter((entry) => providerNameKey(entry.name) === key)
  return similar.length === 1 ? similar[0] : undefined
}

/**
 * Without any name: the only provider key except `demo`, or `demo` if there is no other.
 * @throws RunError `missing_provider_error`, `document_config_error`.
 */
export function chooseProvider(entries: readonly ProviderEntry[], choice: Choice): ProviderEntry {
  const wanted = choice.named ?? choice.projectDefault ?? choice.serverDefault
  if (wanted !== undefined) {
    const entry = matchProvider(entries, wanted)
    if (entry) return entry
    const configured = entries.map(({ name }) => name)
    const message = `Provider '${wanted}' is not configured (configured: ${configured.join(', ') || 'none'})`
    throw new RunError('missing_provider_error', message, { details: { provider: wanted, configured } })
  }
  const usable = entries.filter((entry) => !entry.isDemo)
  const only = usable.length === 0 ? entries[0] : usable[0]
  if (only && usable.length <= 1) return only
  throw noDefault('provider', choice)
}

/** @throws RunError `document_config_error` when neither prompt, project, entry nor server name a model. */
export function chooseModel(entry: ProviderEntry, choice: Choice): string {
  const model = choice.named ?? choice.projectDefault ?? entry.defaultModel ?? choice.serverDefault
  if (model !== undefined) return model
  throw noDefault('model', choice)
}

function noDefault(key: 'provider' | 'model', { path }: Choice): RunError {
  return new RunError('document_config_error', `The prompt names no ${key} and there is no default`, {
    details: { key, ...(path !== undefined && { path }) },
  })
}
