import type { CompileIssue as IssueBody, LocatedIssue as LocatedBody } from '@stet/contract'
import type { CompileIssue } from '../features/templates/template-engine.ts'

/** A response has at most this many errors of one prompt. */
export const MAX_ISSUES = 20

export function issueBody({ code, message, line, column, endLine, endColumn, frame }: CompileIssue): IssueBody {
  const end = { ...(endLine === undefined ? {} : { endLine }), ...(endColumn === undefined ? {} : { endColumn }) }
  return { code, message, line, column, ...end, frame }
}

export function locatedIssueBody(issue: CompileIssue): LocatedBody {
  return { ...issueBody(issue), path: issue.path }
}
