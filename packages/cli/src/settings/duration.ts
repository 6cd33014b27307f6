import { CliError } from '../exit-code.ts'

const secondsOfUnit: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Parses `30s`, `15m`, `24h`, `90d` or `2w` into seconds. The error names `flag`. */
export function parseDuration(text: string, flag: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  const seconds = secondsOfUnit[unit]
  if (seconds !== undefined) return Number(count) * seconds
  throw new CliError('usage', `${flag}: a number with s, m, h, d or w, such as 24h, not "${text}"`)
}
