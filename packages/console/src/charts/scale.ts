/** The two axes of a chart, and the difference of two figures. Pure. */

const daySeconds = 86_400

/**
 * The steps that have a tick: at full hours of the user's zone, or at days in UTC, as the steps are.
 *
 * @param steps the starts of the steps, in milliseconds
 * @param most how many ticks have room
 */
export function stepTicks(steps: readonly number[], stepSeconds: number, most: number): number[] {
  const every = [1, 2, 3, 6, 12, 24, 48].find((count) => steps.length / count <= most) ?? 96
  return steps.filter((at) => placeOf(at, stepSeconds) % every === 0)
}

/** The position of a step within its day, or that of a day. Zones with half hours have steps that begin in the middle of an hour. */
function placeOf(at: number, stepSeconds: number): number {
  if (stepSeconds >= daySeconds) return Math.floor(at / (stepSeconds * 1000))
  const date = new Date(at)
  return Math.floor((date.getHours() * 3600 + date.getMinutes() * 60) / stepSeconds)
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const clockWithSeconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const utcDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** "14:00", or the day where one begins: "12 Nov". */
export function tickText(at: number, stepSeconds: number): string {
  if (stepSeconds >= daySeconds) return utcDay.format(at)
  return placeOf(at, stepSeconds) === 0 ? day.format(at) : clock.format(at)
}

/** "12 Nov, 14:00", or "12 Nov" for a day in UTC. */
export function stepText(at: number, stepSeconds: number): string {
  return stepSeconds >= daySeconds ? utcDay.format(at) : `${day.format(at)}, ${clock.format(at)}`
}

/** "12:04:10". */
export function secondText(at: string): string {
  return clockWithSeconds.format(new Date(at))
}

/** The upper end of an axis that begins at 0, with room above the largest value. */
export function axisEnd(largest: number | null): number {
  return largest ? largest * 1.08 : 1
}
