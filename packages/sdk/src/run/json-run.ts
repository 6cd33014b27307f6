import type { Outcome } from '../api-promise.ts'
import { AbortError, StetError } from '../errors.ts'
import type { OutputKind } from '../registry.ts'
import { type RunStart, roundOptions, sentOptions } from '../run-start.ts'
import type { Api } from '../transport/api.ts'
import { observe } from '../transport/request.ts'
import type { RunResult } from '../types.ts'
import { RunRequests } from './run-requests.ts'

export async function jsonOutcome<O extends OutputKind>(api: Api, start: RunStart<O>): Promise<Outcome<RunResult<O>>> {
  const { operation, fields, options } = start
  // The response to a new run arrives only when the run ends. Before that, the uuid is unknown, so an abort cannot stop
  // the run. The server then stops the abandoned run after a grace period.
  let conversationUuid = 'conversationUuid' in fields ? fields.conversationUuid : undefined
  const requests = new RunRequests(api)
  try {
    const first = await requests.answer<O>(operation, fields, sentOptions(start))
    conversationUuid = first.data.uuid
    const outcome = options.tools ? await answerTurns(requests, start, first) : first
    options.onFinished?.(outcome.data)
    return outcome
  } catch (error) {
    if (error instanceof AbortError && conversationUuid !== undefined) {
      const detached = options.onAbort === 'detach'
      Object.assign(error, { conversationUuid, detached })
      // Stop only while this call may have an active run, because a stop could hit another caller's run. Ignore a
      // failure of the stop, as with streams.
      if (!detached && requests.mayRun) api.stopRun(conversationUuid, options).then(undefined, () => {})
    }
    if (StetError.isInstance(error)) observe(api.settings, () => options.onError?.(error))
    throw error
  }
}

/** Answers the tool calls of a JSON run, round by round. Returns the last result with the totals of all rounds. */
async function answerTurns<O extends OutputKind>(
  requests: RunRequests,
  start: RunStart<O>,
  first: Outcome<RunResult<O>>,
): Promise<Outcome<RunResult<O>>> {
  const { signal = new AbortController().signal, onToolCall } = start.options
  let outcome = first
  const scene = () => ({ conversationUuid: outcome.data.uuid, messages: outcome.data.conversation, signal })
  const { ToolLoop } = await import('../tools/tool-loop.ts')
  const loop = new ToolLoop(requests.api, start, { scene, tell() {} })
  for (;;) {
    const { uuid: conversationUuid, toolRequests } = outcome.data
    for (const call of toolRequests) onToolCall?.(call)
    const message = loop.goesOn(toolRequests) ? await loop.answerAll(toolRequests, outcome.data) : undefined
    if (!message) return { response: outcome.response, data: loop.total(outcome.data) }
    const options = roundOptions(start.options, loop.rounds)
    outcome = await requests.answer('conversations.chat', { conversationUuid, messages: [message] }, options)
  }
}
