import type { CompileIssue as IssueBody, LocatedIssue as LocatedBody } from '@stet/contract'
import type { CompileIssue } from '../features/templates/template-engine.ts'

/** A response has at most this many errors of one prompt. */
export const MAX_ISSUES = 20

/** @param path the prompt that was compiled. Only errors in other prompts name theirs. */
export function issueBody(issue: CompileIssue, path: string): IssueBody {
  const { path: of, ...body } = locatedIssueBody(issue)
  return of === path ? body : { ...body, path: of }
}

export function locatedIssueBody(issue: CompileIssue): LocatedBody {
  const { code, message, line, column, endLine, endColumn, frame, path } = issue
  const end = { ...(endLine === undefined ? {} : { endLine }), ...(endColumn === undefined ? {} : { endColumn }) }
  return { code, message, line, column, ...end, frame, path }
}
