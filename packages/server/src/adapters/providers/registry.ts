import type { ModelDrivers } from '../../features/providers/model-driver.ts'
import type { Clock } from '../../shared/clock.ts'
import { anthropicDriver } from './anthropic/driver.ts'
import { demoDriver } from './demo/driver.ts'
import { openaiDriver } from './openai/client.ts'
import type { GuardSettings } from './transport/address-guard.ts'
import { leanTransport, type ProviderLimits, providerLimits } from './transport/transport.ts'

export function createModelDrivers(settings: {
  guard: GuardSettings
  clock: Clock
  limits?: Partial<ProviderLimits> | undefined
}): ModelDrivers & { close(): Promise<void> } {
  const limits = { ...providerLimits, ...settings.limits }
  const transport = leanTransport(settings.guard, limits)
  const deps = { transport, clock: settings.clock, limits }
  return {
    driverFor(provider) {
      if (provider.isDemo) return demoDriver()
      return provider.kind === 'anthropic' ? anthropicDriver(deps, provider) : openaiDriver(deps, provider)
    },
    close: () => transport.close(),
  }
}
