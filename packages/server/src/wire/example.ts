import type {
  Example as ExampleBody,
  SavedRuns as SavedRunsBody,
  ExampleSummary as SummaryBody,
} from '@stet/contract/vocabulary'
import type { Example, ExampleSummary } from '../features/examples/example.ts'
import type { SavedRuns } from '../features/examples/save-runs.ts'
import { personBody } from './api-key.ts'

export function exampleBody(example: Example): ExampleBody {
  return {
    uuid: example.uuid,
    documentUuid: example.documentUuid,
    name: example.name,
    parameters: example.parameters,
    messages: example.messages,
    expected: example.expected,
    checks: example.checks,
    toolResults: example.toolResults,
    ...sharedBody(example),
  }
}

export function exampleSummaryBody(example: ExampleSummary): SummaryBody {
  return {
    uuid: example.uuid,
    documentUuid: example.documentUuid,
    name: example.name,
    hasMessages: example.hasMessages,
    hasExpected: example.hasExpected,
    hasToolResults: example.hasToolResults,
    checkCount: example.checkCount,
    ...sharedBody(example),
  }
}

/** The summary of an example whose values are known. */
function summaryOf({ messages, expected, checks, toolResults, ...example }: Example): ExampleSummary {
  return {
    ...example,
    hasMessages: messages.length > 0,
    hasExpected: expected !== null,
    hasToolResults: Object.keys(toolResults).length > 0,
    checkCount: checks.length,
  }
}

export function savedRunsBody({ added, skipped }: SavedRuns): SavedRunsBody {
  return { added: added.map((example) => exampleSummaryBody(summaryOf(example))), skipped }
}

function sharedBody(example: Example | ExampleSummary) {
  return {
    tags: example.tags,
    position: example.position,
    sourceRunUuid: example.sourceRunUuid,
    author: personBody(example.author),
    createdAt: example.createdAt.toISOString(),
    updatedAt: example.updatedAt.toISOString(),
  }
}
