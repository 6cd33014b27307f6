import type { RunResult as RunResultBody } from '@stet/contract/vocabulary'
import type { RunResult } from '../features/runs/run.ts'
import { providerKind, shownMessages, withBothKeys } from './legacy-clients.ts'

/** @param isDeclared true for a legacy client, whose strict models refuse some message parts. */
export function runResultBody(result: RunResult, isDeclared: boolean): RunResultBody {
  return {
    uuid: result.uuid,
    conversation: shownMessages(result.conversation, isDeclared),
    response: responseBody(result, isDeclared),
    toolRequests: result.toolRequests,
    source: { documentUuid: result.source.documentUuid, commitUuid: result.source.versionUuid },
    tokenUsage: result.tokenUsage,
    cost: result.cost,
  }
}

function responseBody({ uuid, response }: RunResult, isDeclared: boolean): RunResultBody['response'] {
  const rest = {
    text: response.text,
    ...(response.reasoning === undefined ? {} : { reasoning: response.reasoning }),
    usage: response.usage,
    cost: response.cost,
    model: response.model,
    provider: providerKind(response.provider) ?? 'custom',
    finishReason: response.finishReason,
    documentLogUuid: uuid,
    input: shownMessages(response.input, isDeclared),
    output: shownMessages(response.output, isDeclared),
  }
  return response.streamType === 'object'
    ? { streamType: 'object', object: response.object, toolCalls: [], ...rest }
    : { streamType: 'text', toolCalls: response.toolCalls, ...rest }
}

/** The result for attach requests. Text parts have their text under both `text` and `content`. */
export function attachResultBody(result: RunResult, isDeclared: boolean): RunResultBody {
  const body = runResultBody(result, isDeclared)
  const { response } = body
  return {
    ...body,
    conversation: body.conversation.map(withBothKeys),
    response: { ...response, input: response.input.map(withBothKeys), output: response.output.map(withBothKeys) },
  }
}
