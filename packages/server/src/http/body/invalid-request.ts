import { type AppError, invalid } from '../../shared/app-error.ts'

export interface RequestIssue {
  path: readonly PropertyKey[]
  code: string
  message: string
}

/** A request that its schema refuses; the first issue stands in the message, up to 50 in `details.issues`. */
export function invalidRequest(issues: readonly RequestIssue[]): AppError {
  const listed = issues.slice(0, 50).map(({ path, code, message }) => ({ path: path.map(wirePathPart), code, message }))
  const [first] = listed
  const where = first && first.path.length > 0 ? first.path.join('.') : 'body'
  return invalid(`Invalid request: ${where}: ${first?.message ?? 'invalid'}`, { issues: listed })
}

function wirePathPart(part: PropertyKey): string | number {
  return typeof part === 'symbol' ? part.toString() : part
}
