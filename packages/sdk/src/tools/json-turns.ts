import type { Outcome } from '../api-promise.ts'
import type { OutputKind } from '../registry.ts'
import { JSON_RUN_TIMEOUT_MS, type RunStart } from '../stream/run-start.ts'
import type { Api } from '../transport/api.ts'
import type { RunResult } from '../types.ts'
import { roundOptions } from './round-options.ts'
import { ToolLoop } from './tool-loop.ts'

/** Answers the calls that a JSON run ended with, turn by turn; gives the last outcome with the sums of all. */
export async function answerJsonTurns<O extends OutputKind>(
  api: Api,
  start: RunStart<O>,
  first: Outcome<RunResult<O>>,
): Promise<Outcome<RunResult<O>>> {
  const { signal = new AbortController().signal, onToolCall } = start.options
  let outcome = first
  const scene = () => ({ conversationUuid: outcome.data.uuid, messages: outcome.data.conversation, signal })
  const loop = new ToolLoop(api, start, { scene, tell() {} })
  for (;;) {
    const { uuid: conversationUuid, toolRequests } = outcome.data
    for (const call of toolRequests) onToolCall?.(call)
    const message = loop.goesOn(toolRequests) ? await loop.answerAll(toolRequests, outcome.data) : undefined
    if (!message) return { response: outcome.response, data: loop.total(outcome.data) }
    const chat = { conversationUuid, messages: [message], stream: false }
    const options = roundOptions(start.options, loop.rounds)
    outcome = await api.answer('conversations.chat', chat, options, JSON_RUN_TIMEOUT_MS)
  }
}
