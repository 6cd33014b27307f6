/** A provider whose answers follow the last message, as the suites of the clients expect them. */
import type { FakeReply, FakeRequest } from '../../support/fake-provider.ts'

interface SentMessage {
  role: string
  content?: unknown
}

const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }
/** So long that a caller who stops a run, or cuts its stream, comes before its end. */
const wordDelayMs = 20

/** @param request of Chat Completions */
export function scriptedReply({ body }: FakeRequest): FakeReply {
  const messages = body['messages'] as SentMessage[]
  const last = textOf(messages.at(-1))
  const isAsked = messages.at(-1)?.role === 'user'
  if (last.includes('FAIL')) return { status: 400, body: { error: { message: 'The provider refused the request' } } }
  if (isAsked && /weather/i.test(last) && Array.isArray(body['tools'])) {
    return { usage, toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: { location: 'SF' } }] }
  }
  if (body['response_format']) return { usage, object: { answer: 'yes', n: 42 } }
  const parameter = /Ticket: (\S+)/.exec(messages.map(textOf).join('\n'))?.[1] ?? 'none'
  const text = `Thank you for writing. Your ticket is ${parameter} and somebody looks at it.`
  return {
    ...{ usage, text, delayMs: wordDelayMs },
    ...(last.includes('THINK') && { reasoning: 'First I read the ticket.' }),
    ...(last.includes('LONG') && { finishReason: 'length' }),
  }
}

function textOf(message: SentMessage | undefined): string {
  const { content } = message ?? {}
  if (!Array.isArray(content)) return String(content ?? '')
  return content.map((part: { text?: string }) => part.text ?? '').join('')
}
