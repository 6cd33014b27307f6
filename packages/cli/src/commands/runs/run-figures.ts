import type { Run, RunSpan } from '@stet/sdk'
import type { Io } from '../../io.ts'
import { asShown } from '../../terminal/terminal-style.ts'

type Used = Pick<Run, 'tokenUsage' | 'isUsageEstimated' | 'endedAt'>

/** Marks estimated counts. An active run has none yet. */
export function tokensOf({ tokenUsage, isUsageEstimated, endedAt }: Used, io: Pick<Io, 'env'>): string {
  if (endedAt === null) return '-'
  return `${isUsageEstimated ? asShown('≈', io) : ''}${usageOf(tokenUsage)}`
}

export function usageOf({ inputTokens, outputTokens }: NonNullable<RunSpan['usage']>): string {
  return `${inputTokens} in / ${outputTokens} out`
}

/** An unknown price is `?`, never $0. */
export function costOf({ cost, endedAt }: Pick<Run, 'cost' | 'endedAt'>): string {
  if (cost === null) return endedAt === null ? '-' : '?'
  return dollars(cost)
}

export function dollars(cost: number): string {
  if (cost === 0) return '$0'
  return cost < 0.0001 ? '<$0.0001' : `$${cost.toFixed(4)}`
}

export function durationOf(ms: number | null): string {
  if (ms === null) return '-'
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}
