/** Frames of chat completions. */
import { type AnswerCase, done, type Frame, type Json } from './shape.ts'

export function choice(delta: Json, finish_reason: string | null = null, more: Json = {}): Json {
  return { choices: [{ index: 0, delta, finish_reason }], ...more }
}
export const says = (content: string, finish: string | null = null) => choice({ content }, finish)
export const stop = (finish = 'stop') => choice({}, finish)
export const called = stop('tool_calls')
export const usage = (prompt_tokens: unknown, completion_tokens: unknown): Json => ({
  choices: [],
  usage: { prompt_tokens, completion_tokens },
})

/** A plain answer. */
export function plain(message: Json, finish_reason = 'stop', more: Json = {}): Json {
  return { choices: [{ index: 0, message, finish_reason }], ...more }
}

/** The text `Hi` in frames before the end mark. */
export const hi = (...frames: Frame[]): AnswerCase => ({ sent: [...frames, done], text: 'Hi' })

/** A fragment of a call as `index id name arguments`, where `-` is not sent. */
export function part(text: string): Json {
  const [index, id, name, args = ''] = text.split(' ').map((word) => (word === '-' ? undefined : word))
  const type = id === undefined ? {} : { type: 'function' }
  return { ...(index && { index: Number(index) }), id, ...type, function: { name, arguments: args } }
}

/** Frames with fragments of calls. `;` separates frames, and `&` separates the fragments of one frame. */
export function calls(text: string, finish: string | null = null): Json[] {
  return text.split('; ').map((frame) => choice({ tool_calls: frame.split(' & ').map(part) }, finish))
}
