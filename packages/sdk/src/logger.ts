import type { Logger, LogLevel } from './options.ts'

/** From nothing to everything. */
export const LEVELS: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug']

/** A logger that drops what is below the level. Levels: error, warn, info, debug; `off` drops everything. */
export function createLogger(level: LogLevel, target: Logger): Logger {
  const at =
    (name: keyof Logger) =>
    (message: string, ...rest: unknown[]) => {
      if (LEVELS.indexOf(name) <= LEVELS.indexOf(level)) target[name](`[stet] ${message}`, ...rest)
    }
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }
}
