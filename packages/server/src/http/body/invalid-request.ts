import { type AppError, refuse } from '../../shared/app-error.ts'

export interface RequestIssue {
  path: readonly PropertyKey[]
  code: string
  message: string
}

/** A request that fails its schema. The message names the first issue; `details.issues` lists up to 50. */
export function invalidRequest(
  cause: 'refused-query' | 'invalid-query' | 'invalid-body',
  issues: readonly RequestIssue[],
): AppError {
  const listed = issues.slice(0, 50).map(({ path, code, message }) => ({ path: path.map(wirePathPart), code, message }))
  return refuse(cause, { issues: listed })
}

function wirePathPart(part: PropertyKey): string | number {
  return typeof part === 'symbol' ? part.toString() : part
}
