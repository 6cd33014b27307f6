import type { EXAMPLE_LIMITS } from '@stet/contract/vocabulary'
import { sizeText } from './input-value.ts'

// Only the type is imported, so the page does not contain the vocabulary. Another limit does not compile.
const limitBytes: (typeof EXAMPLE_LIMITS)['bytes'] = 262_144

/** Says that an example is too large, and which input has most of it. Null if it fits. */
export function exampleProblem(parameters: Record<string, unknown>, messages: readonly unknown[]): string | null {
  const bytes = bytesOf({ parameters, messages })
  if (bytes <= limitBytes) return null
  const [largest] = Object.entries(parameters)
    .map(([name, value]) => ({ name, bytes: bytesOf(value) }))
    .sort((one, other) => other.bytes - one.bytes)
  const alone = largest ? ` (${largest.name} alone: ${sizeText(largest.bytes)})` : ''
  return `An example can hold at most ${sizeText(limitBytes)}. These inputs take ${sizeText(bytes)}${alone}.`
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}
