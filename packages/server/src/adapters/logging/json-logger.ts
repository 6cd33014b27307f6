/** Writes JSON lines in batches. While the output's buffer is full, lines are dropped and counted. */
import type { Writable } from 'node:stream'
import type { LogFields, Logger } from '../../shared/telemetry.ts'

const levels = { error: 50, warn: 40, info: 30, debug: 20, off: 100 } as const
export type LogLevel = keyof typeof levels

// Patterns of stet's API keys, bearer tokens and common provider keys. All apply to the finished line.
const secrets = [/stet_[0-9A-Za-z]{36}/g, /bearer\s+[^\s"\\]+/gi, /\b(?:sk|pk|gsk|xai|pplx)-[0-9A-Za-z_-]{12,}/g]

const unwritten = new Set<() => void>()
process.on('exit', () => {
  for (const flush of unwritten) flush()
})

export function createJsonLogger(output: Writable, least: LogLevel): Logger {
  let dropped = 0
  let gathered = ''
  const flush = (): void => {
    unwritten.delete(flush)
    if (gathered !== '') output.write(gathered)
    gathered = ''
  }
  const write = (level: Exclude<LogLevel, 'off'>, event: string, fields: LogFields = {}): void => {
    if (levels[level] < levels[least]) return
    if (output.writableLength + gathered.length > 1_048_576) {
      dropped += 1
      return
    }
    const lost = dropped > 0 ? { droppedLines: dropped } : {}
    dropped = 0
    gathered += `${redact(JSON.stringify({ time: new Date().toISOString(), level, event, ...fields, ...lost }))}\n`
    if (level === 'error') flush()
    else if (!unwritten.has(flush)) {
      unwritten.add(flush)
      // Gathers lines, because each write blocks the process.
      setTimeout(flush, 20).unref()
    }
  }
  return {
    error: (event, fields) => write('error', event, fields),
    warn: (event, fields) => write('warn', event, fields),
    info: (event, fields) => write('info', event, fields),
    debug: (event, fields) => write('debug', event, fields),
  }
}

export function redact(line: string): string {
  return secrets.reduce((text, pattern) => text.replace(pattern, '[redacted]'), line)
}
