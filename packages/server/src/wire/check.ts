import type {
  DocumentCheck as CheckBody,
  CompileIssue as IssueBody,
  LocatedIssue as LocatedBody,
  PromptIssue as PromptIssueBody,
} from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type { PromptCheck } from '../features/checks/check-prompt.ts'
import type { CompileIssue, PromptIssue } from '../features/templates/template-engine.ts'
import { providerKind } from './legacy-clients.ts'

/** Facts from the provider key of a prompt. */
export interface ProviderFacts {
  /** The type of the provider key; undefined if the prompt has no provider key. */
  kind: string | undefined
  issues: readonly PromptIssue[]
}

export function checkBody(check: PromptCheck, { kind, issues }: ProviderFacts): CheckBody {
  const provider = providerKind(kind)
  return {
    contentHash: check.contentHash,
    errors: check.errors.slice(0, maxIssues).map(locatedIssueBody),
    issues: issueBodies([...check.issues, ...issues]),
    config: check.config,
    parameters: check.parameters,
    ...defined({ provider }),
    references: check.references,
    referencedBy: check.referencedBy,
    messages: check.messages,
  }
}

/** A response has at most this many errors of one prompt. */
export const maxIssues = 20

/** @param path the prompt that was compiled. Only errors in other prompts name theirs. */
export function issueBody(issue: CompileIssue, path: string): IssueBody {
  const { path: of, ...body } = locatedIssueBody(issue)
  return of === path ? body : { ...body, path: of }
}

export function issueBodies(issues: readonly PromptIssue[]): PromptIssueBody[] {
  return issues.slice(0, maxIssues).map((issue) => {
    const { path: _path, ...body } = locatedIssueBody(issue)
    return { severity: issue.severity, ...body }
  })
}

function locatedIssueBody(issue: CompileIssue): LocatedBody {
  const { code, message, line, column, endLine, endColumn, frame, path } = issue
  const end = defined({ endLine, endColumn })
  return { code, message, line, column, ...end, frame, path }
}
