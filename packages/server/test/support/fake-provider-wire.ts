export interface FakeToolCall {
  id: string
  name: string
  /** An object is sent as JSON. A string is sent unchanged, so it may be invalid JSON. */
  arguments: Record<string, unknown> | string
  /** The number of fragments that the arguments are streamed in. Default: 2. */
  fragments?: number
}

export interface FakeAnswer {
  text?: string
  /** The fragments of a streamed text. Default: the words of `text`. */
  deltas?: readonly string[]
  /** Sent as JSON in place of `text`. */
  object?: unknown
  reasoning?: string | readonly string[]
  toolCalls?: readonly FakeToolCall[]
  /** The usage object on the wire. With null, only Messages sends usage. */
  usage?: Record<string, unknown> | null
  finishReason?: string
  /** Milliseconds before each streamed content frame, or before a plain answer. */
  delayMs?: number
  /** Awaited after `gateAfter` content frames (1 by default), or before a plain answer. */
  gate?: Promise<unknown>
  gateAfter?: number
  /** Destroys the connection after this many content frames, or in the middle of a plain answer. */
  cut?: number
  /** The body ends without a finish reason, usage or `[DONE]`. */
  noEndMark?: boolean
  hang?: 'before-head' | 'after-head' | 'mid-stream'
}

export interface AnswerIdentity {
  id: string
  model: string
}

export interface FakeWire {
  path: string
  head(identity: AnswerIdentity, reply: FakeAnswer): string
  content(identity: AnswerIdentity, reply: FakeAnswer): string[]
  end(identity: AnswerIdentity, reply: FakeAnswer, wantsUsage: boolean): string
  plain(identity: AnswerIdentity, reply: FakeAnswer): Record<string, unknown>
}

type Delta = Record<string, unknown>

export const chatWire: FakeWire = {
  path: '/chat/completions',
  head: headFrame,
  content: (identity, reply) => contentFrames(reply).map((delta) => frame(identity, delta)),
  end: endFrames,
  plain: plainAnswer,
}

const createdAt = 1_767_322_800
const defaultUsage = { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 }

function headFrame(identity: AnswerIdentity): string {
  return frame(identity, { role: 'assistant', content: '' })
}

function contentFrames(reply: FakeAnswer): Delta[] {
  const reasoning = typeof reply.reasoning === 'string' ? words(reply.reasoning) : (reply.reasoning ?? [])
  const text = reply.deltas ?? words(textOf(reply))
  return [
    ...reasoning.map((piece) => ({ reasoning_content: piece })),
    ...text.map((piece) => ({ content: piece })),
    ...(reply.toolCalls ?? []).flatMap(toolCallFrames),
  ]
}

function endFrames(identity: AnswerIdentity, reply: FakeAnswer, wantsUsage: boolean): string {
  const usage = reply.usage === undefined ? defaultUsage : reply.usage
  const usageFrame = wantsUsage && usage !== null ? line({ ...envelope(identity), choices: [], usage }) : ''
  return `${frame(identity, {}, finishReasonOf(reply))}${usageFrame}data: [DONE]\n\n`
}

function frame(identity: AnswerIdentity, delta: Delta, finishReason: string | null = null): string {
  return line({ ...envelope(identity), choices: [{ index: 0, delta, finish_reason: finishReason }] })
}

function plainAnswer(identity: AnswerIdentity, reply: FakeAnswer): Record<string, unknown> {
  const usage = reply.usage === undefined ? defaultUsage : reply.usage
  const text = textOf(reply)
  const reasoning = typeof reply.reasoning === 'string' ? reply.reasoning : reply.reasoning?.join('')
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(reply.toolCalls ? { tool_calls: reply.toolCalls.map((call) => toolCall(call, argumentsOf(call))) } : {}),
  }
  return {
    ...envelope(identity),
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: finishReasonOf(reply) }],
    ...(usage === null ? {} : { usage }),
  }
}

function toolCallFrames(call: FakeToolCall, index: number): Delta[] {
  const pieces = slices(argumentsOf(call), call.fragments ?? 2)
  const start = { tool_calls: [{ index, ...toolCall(call, '') }] }
  return [start, ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }))]
}

function toolCall(call: FakeToolCall, json: string) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: json } }
}

export function argumentsOf(call: FakeToolCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
}

function finishReasonOf(reply: FakeAnswer): string {
  return reply.finishReason ?? (reply.toolCalls && reply.toolCalls.length > 0 ? 'tool_calls' : 'stop')
}

export function textOf(reply: FakeAnswer): string {
  if (reply.deltas) return reply.deltas.join('')
  return reply.object === undefined ? (reply.text ?? '') : JSON.stringify(reply.object)
}

function envelope(identity: AnswerIdentity) {
  return { id: identity.id, object: 'chat.completion.chunk', created: createdAt, model: identity.model }
}

function line(body: unknown): string {
  return `data: ${JSON.stringify(body)}\n\n`
}

export function words(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? (text === '' ? [] : [text])
}

export function slices(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count))
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  )
}
