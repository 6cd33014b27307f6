/** The figures of a run as every screen writes them. Pure. */
import type { Run, RunSpan } from '@stet/sdk'
import { costText, countText, durationText } from '../ui/time.tsx'

/** A figure that a run does not have, or does not have yet. */
export const noFigure = '–'

/** Whether the run has not ended. */
export function isActiveRun({ status }: Pick<Run, 'status'>): boolean {
  return status === 'queued' || status === 'running'
}

/** "$0.0021", "≈ $0.0021" with estimated tokens, "no price". A run that is active has none. */
export function runCost(run: Pick<Run, 'status' | 'cost' | 'isUsageEstimated'>): string {
  if (isActiveRun(run)) return noFigure
  return estimated(costText(run.cost), run.isUsageEstimated && run.cost !== null)
}

/** "1,204 in · 88 out", with "≈" before it if tokens of a model call were estimated. */
export function runTokens(run: Pick<Run, 'status' | 'tokenUsage' | 'isUsageEstimated'>): string {
  const { inputTokens, outputTokens } = run.tokenUsage
  if (isActiveRun(run) || inputTokens + outputTokens === 0) return noFigure
  return estimated(`${countText(inputTokens)} in · ${countText(outputTokens)} out`, run.isUsageEstimated)
}

/** From the creation of the run to its end. */
export function runDuration({ durationMs }: Pick<Run, 'durationMs'>): string {
  return durationMs === null ? noFigure : durationText(durationMs)
}

/** From the creation of the run to its first text or tool call. A run without a stream has none. */
export function runFirstToken({ firstTokenMs }: Pick<Run, 'firstTokenMs'>): string {
  return firstTokenMs === null ? noFigure : durationText(firstTokenMs)
}

/** The start of a uuid, which the search for runs accepts. */
export function shortUuid(uuid: string): string {
  return uuid.slice(0, 8)
}

function estimated(text: string, isEstimated: boolean): string {
  return isEstimated ? `≈ ${text}` : text
}

/** The figures of a step, a model call or a tool call that are known, each with its meaning. */
export function spanFigures({ startMs, firstTokenMs, usage, cost }: RunSpan): string[] {
  return [
    `from ${durationText(startMs)}`,
    ...(firstTokenMs === undefined ? [] : [`first token after ${durationText(firstTokenMs - startMs)}`]),
    ...(usage ? [`${countText(usage.inputTokens)} tokens in`, `${countText(usage.outputTokens)} out`] : []),
    ...(usage && usage.cachedInputTokens > 0 ? [`${countText(usage.cachedInputTokens)} from the cache`] : []),
    ...(cost === undefined ? [] : [costText(cost)]),
  ]
}

/**
 * The change of a figure as a part of the earlier one: 0.5 is half as much again. Infinity if there was none before.
 * Null if either is unknown.
 *
 * @param scale by what the earlier figure is multiplied first, if it is a count over another length of time
 */
export function changeOf(now: number | null, before: number | null, scale = 1): number | null {
  if (now === null || before === null) return null
  if (before === 0) return now === 0 ? 0 : Number.POSITIVE_INFINITY
  return now / (before * scale) - 1
}

/** "+12%", "−3%", "×40", "new". Empty if the change is unknown. */
export function changeText(change: number | null): string {
  if (change === null) return ''
  if (change === Number.POSITIVE_INFINITY) return 'new'
  if (change >= 9) return `×${Math.round(change + 1)}`
  const percent = Math.round(change * 100)
  return percent === 0 ? '±0%' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)}%`
}
