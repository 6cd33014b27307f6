import type { RunResult as RunResultBody } from '@stet/contract/vocabulary'
import type { RunResult } from '../features/runs/run.ts'
import { providerKind, withBothKeys } from './legacy-clients.ts'

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
