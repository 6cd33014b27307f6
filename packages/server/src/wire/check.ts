import type { DocumentCheck as CheckBody } from '@stet/contract'
import type { PromptCheck } from '../features/checks/check-prompt.ts'
import { locatedIssueBody, MAX_ISSUES } from './compile-issue.ts'
import { providerKind, shownMessages } from './legacy-clients.ts'

/** @param kind the type of the prompt's provider key; undefined if it has none. */
export function checkBody(check: PromptCheck, kind: string | undefined, isDeclared: boolean): CheckBody {
  const provider = providerKind(kind)
  return {
    contentHash: check.contentHash,
    errors: check.errors.slice(0, MAX_ISSUES).map(locatedIssueBody),
    config: check.config,
    parameters: check.parameters,
    ...(provider === undefined ? {} : { provider }),
    references: check.references,
    referencedBy: check.referencedBy,
    messages: check.messages && shownMessages(check.messages, isDeclared),
  }
}
