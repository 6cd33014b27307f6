/** The arms of a comparison, as the page's address has them. Pure. */
import type { RunOverrides } from '@stet/contract/vocabulary'

/** One of several runs with the same inputs. */
export interface Arm {
  /** `live`, or the uuid of a version. Without it, the version that the page shows. */
  version?: string
  /** Settings in place of those of the front matter. */
  overrides?: RunOverrides
  /** The uuid of its last run. */
  run?: string
}

/** A window has no room for more columns. */
export const mostArms = 4

interface Setting {
  name: keyof RunOverrides
  label: string
  isNumber: boolean
}

/** The settings that an arm may change, in the order of their fields. */
export const settings: readonly Setting[] = [
  { name: 'provider', label: 'Provider key', isNumber: false },
  { name: 'model', label: 'Model', isNumber: false },
  { name: 'temperature', label: 'Temperature', isNumber: true },
  { name: 'topP', label: 'Top P', isNumber: true },
  { name: 'maxTokens', label: 'Most tokens', isNumber: true },
  { name: 'reasoningEffort', label: 'Reasoning effort', isNumber: false },
]

/** Reads the arms of an address, which anyone may have written. Null if it has none. */
export function readArms(value: unknown): Arm[] | null {
  if (!Array.isArray(value) || value.length === 0) return null
  return value.slice(0, mostArms).map((given): Arm => {
    const { version, overrides, run } = Object(given) as Record<string, unknown>
    const kept = readOverrides(Object(overrides))
    return {
      ...(typeof version === 'string' && { version }),
      ...(kept && { overrides: kept }),
      ...(typeof run === 'string' && { run }),
    }
  })
}

function readOverrides(given: Record<string, unknown>): RunOverrides | null {
  const entries = settings.flatMap(({ name, isNumber }) => {
    const value = given[name]
    return typeof value === (isNumber ? 'number' : 'string') ? [[name, value] as const] : []
  })
  return entries.length === 0 ? null : Object.fromEntries(entries)
}

/** The arm with another value of a setting. An empty one is that of the front matter. */
export function withSetting(arm: Arm, name: keyof RunOverrides, value: string | number): Arm {
  const { overrides, ...rest } = arm
  const { [name]: _, ...others } = overrides ?? {}
  const next = value === '' ? others : { ...others, [name]: value }
  return Object.keys(next).length === 0 ? rest : { ...rest, overrides: next }
}
