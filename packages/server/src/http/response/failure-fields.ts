/** The log fields of an unexpected failure. */
import type { LogFields } from '../../shared/logger.ts'

/** Without the message: those of drivers quote statements and values, and no prompt may reach a log. */
export function failureFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { reason: typeof error, code: undefined, frames: undefined }
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at '))
  return { reason: error.name, code: codeOf(error), frames: frames?.join('\n') }
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
