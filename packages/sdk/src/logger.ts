import type { Logger, LogLevel } from './options.ts'

export const LEVELS: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug']

export function createLogger(level: LogLevel, target: Logger): Logger {
  const entries = LEVELS.slice(1).map((name, rank) => [
    name,
    (message: string, ...rest: unknown[]) => {
      if (rank < LEVELS.indexOf(level)) target[name as keyof Logger](`[stet] ${message}`, ...rest)
    },
  ])
  return Object.fromEntries(entries) as Logger
}
