import { RunErrorCode } from '@stet/contract'
import type { RunDetails as DetailsBody, ListedRun as ListedBody, Run as RunBody } from '@stet/contract/vocabulary'
import type { RecordedRun, RunDetails, RunWithContent } from '../features/conversations/ports.ts'
import { personBody } from './api-key.ts'
import { noteBody } from './conversation.ts'

export function runBody(run: RecordedRun): RunBody {
  const { createdAt, startedAt, endedAt, errorCode, errorMessage } = run
  // The clock of a machine may be set back.
  const msUntil = (end: Date | null) => end && Math.max(0, end.getTime() - createdAt.getTime())
  // Another release may have stored a code that is unknown here. This code is shown as `unknown_error`.
  const { data: code = 'unknown_error' } = RunErrorCode.safeParse(errorCode)
  return {
    uuid: run.uuid,
    conversationUuid: run.conversationUuid,
    projectId: run.projectId,
    documentUuid: run.documentUuid,
    path: run.path,
    versionUuid: run.versionUuid,
    status: run.status,
    error: errorCode === null ? null : { errorCode: code, message: errorMessage ?? '' },
    mode: run.mode,
    via: run.via,
    author: run.author && personBody(run.author),
    apiKey: run.apiKey && { id: run.apiKey.id, name: run.apiKey.name },
    customIdentifier: run.customIdentifier,
    provider: run.provider,
    model: run.model,
    finishReason: run.finishReason,
    overrides: run.overrides,
    createdAt: createdAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    endedAt: endedAt?.toISOString() ?? null,
    queuedMs: msUntil(startedAt),
    durationMs: msUntil(endedAt),
    firstTokenMs: run.firstTokenMs,
    tokenUsage: {
      inputTokens: run.inputTokens ?? 0,
      outputTokens: run.outputTokens ?? 0,
      cachedInputTokens: run.cachedTokens ?? 0,
    },
    isUsageEstimated: run.usageEstimated,
    cost: run.cost,
    tags: run.tags,
    feedback: run.feedback,
    parametersState: run.parametersState,
    givenFrom: run.givenFrom,
    givenCount: run.givenCount,
    firstEventId: run.firstEventId,
    lastEventId: run.lastEventId,
    eventsKept: run.eventsKept,
  }
}

export async function* withContentBodies(runs: AsyncIterable<RunWithContent>): AsyncGenerator<ListedBody> {
  for await (const run of runs) yield { ...runBody(run), parameters: run.parameters, messages: run.messages }
}

export function runDetailsBody(run: RunDetails): DetailsBody {
  const { parameters, spans, spansCut, messageRange } = run
  const note = noteBody(run.note)
  return { ...runBody(run), parameters, spans, spansCut, messageRange, note }
}
