/** Refuses a prompt that does not parse, with the place of its first fault. */
import { RunError } from '../../shared/app-error.ts'
import type { TemplateScan } from './template-engine.ts'

/** @throws RunError `chain_compile_error` */
export function assertCompiles(scan: TemplateScan): void {
  const [issue] = scan.errors
  if (!issue) return
  const { code, message, path, line, column, endLine, endColumn, frame } = issue
  const end = { ...(endLine !== undefined && { endLine }), ...(endColumn !== undefined && { endColumn }) }
  throw new RunError('chain_compile_error', `${path}:${line}:${column} ${message}`, {
    details: { compileCode: code, path, line, column, ...end, frame },
  })
}
