/** Usage of one response, including cache writes, which have a price but are not on the wire. */
import { type Usage, usageOf } from '../../../features/providers/usage.ts'

export interface CountedUsage {
  usage: Usage
  cacheWriteTokens?: number
}

/** @param counts totals: input includes cache reads and writes, output includes reasoning. */
export function countedUsage({
  cacheWrite,
  ...counts
}: Parameters<typeof usageOf>[0] & { cacheWrite?: number }): CountedUsage {
  return {
    usage: usageOf(counts),
    ...(cacheWrite !== undefined && cacheWrite > 0 ? { cacheWriteTokens: cacheWrite } : {}),
  }
}
