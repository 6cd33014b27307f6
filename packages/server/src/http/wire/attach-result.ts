import type { RunResult as RunResultBody } from '@stet/contract'
import type { RunResult } from '../../features/runs/run.ts'
import { runResultBody } from './run-result.ts'

type WireMessage = RunResultBody['conversation'][number]

/** The result as attach answers it: text parts carry their text under `text` and under `content`. */
export function attachResultBody(result: RunResult, isDeclared: boolean): RunResultBody {
  const body = runResultBody(result, isDeclared)
  const { response } = body
  return {
    ...body,
    conversation: body.conversation.map(withBothKeys),
    response: { ...response, input: response.input.map(withBothKeys), output: response.output.map(withBothKeys) },
  }
}

function withBothKeys(message: WireMessage): WireMessage {
  const content = message.content.map((part) => (part.type === 'text' ? { ...part, content: part.text } : part))
  return { ...message, content } as WireMessage
}
