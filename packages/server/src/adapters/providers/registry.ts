/** Which driver serves which provider key. */
import type { ModelDriver, ModelDrivers, ResolvedProvider } from '../../features/providers/model-driver.ts'
import type { Clock } from '../../shared/clock.ts'
import { anthropicDriver } from './anthropic/driver.ts'
import { demoDriver } from './demo/driver.ts'
import { openaiClients } from './openai/client.ts'
import { openaiChatDriver, openaiResponsesDriver } from './openai/driver.ts'
import { baseUrlOf, servesResponses } from './openai/kinds.ts'
import type { GuardSettings } from './transport/address-guard.ts'
import { leanTransport, type ProviderLimits, providerLimits } from './transport/transport.ts'

export interface ModelDriversSettings {
  guard: GuardSettings
  /** Needed for `Retry-After` dates. */
  clock: Clock
  /** Shorter limits for tests. */
  limits?: Partial<ProviderLimits>
}

export function createModelDrivers(settings: ModelDriversSettings): ModelDrivers & { close(): Promise<void> } {
  const limits = { ...providerLimits, ...settings.limits }
  const transport = leanTransport(settings.guard, limits)
  const deps = { transport, clock: settings.clock }
  const openaiDeps = { ...deps, clients: openaiClients() }
  const chat = openaiChatDriver(openaiDeps, limits)
  const responses = openaiResponsesDriver(openaiDeps, limits)
  const anthropic = anthropicDriver(deps, limits)
  const demo: ModelDriver = demoDriver()
  return {
    driverFor(provider: ResolvedProvider) {
      if (provider.driver === 'demo') return demo
      if (provider.kind === 'anthropic') return anthropic
      baseUrlOf(provider)
      return servesResponses(provider) ? responses : chat
    },
    close: () => transport.close(),
  }
}
