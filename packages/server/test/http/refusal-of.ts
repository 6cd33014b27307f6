import type { ApiAnswer } from './api-call.ts'

/** The status and the cause of a refusal, and the path of its first issue if it has issues. */
export function refusalOf({ status, body }: Pick<ApiAnswer, 'status' | 'body'>) {
  const { reason } = body
  const { issues } = Object(body['details'])
  return issues === undefined ? { status, reason } : { status, reason, path: issues[0].path.join('.') }
}
