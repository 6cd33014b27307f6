import { RunErrorCode } from '@stet/contract'
import type {
  RunDetails as DetailsBody,
  ListedRun as ListedBody,
  Run as RunBody,
  RunResult as RunResultBody,
} from '@stet/contract/vocabulary'
import type { RecordedRun, RunDetails, RunWithContent } from '../features/conversations/ports.ts'
import type { RunResult } from '../features/runs/run.ts'
import { personBody } from './api-key.ts'
import { noteBody } from './conversation.ts'
import { providerKind, withBothKeys } from './legacy-clients.ts'

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

export function runResultBody(result: RunResult): RunResultBody {
  return {
    uuid: result.uuid,
    conversation: result.conversation,
    response: responseBody(result),
    toolRequests: result.toolRequests,
    source: { documentUuid: result.source.documentUuid, commitUuid: result.source.versionUuid },
    tokenUsage: result.tokenUsage,
    cost: result.cost,
  }
}

function responseBody({ uuid, response }: RunResult): RunResultBody['response'] {
  const rest = {
    text: response.text,
    ...(response.reasoning === undefined ? {} : { reasoning: response.reasoning }),
    usage: response.usage,
    cost: response.cost,
    model: response.model,
    provider: providerKind(response.provider) ?? 'custom',
    finishReason: response.finishReason,
    documentLogUuid: uuid,
    input: response.input,
    output: response.output,
  }
  return response.streamType === 'object'
    ? { streamType: 'object', object: response.object, toolCalls: [], ...rest }
    : { streamType: 'text', toolCalls: response.toolCalls, ...rest }
}

/** The result for attach requests. Text parts have their text under both `text` and `content`. */
export function attachResultBody(result: RunResult): RunResultBody {
  const body = runResultBody(result)
  const { response } = body
  return {
    ...body,
    conversation: body.conversation.map(withBothKeys),
    response: { ...response, input: response.input.map(withBothKeys), output: response.output.map(withBothKeys) },
  }
}
