/** Frames of chat completions. */
import type { Json } from './shape.ts'

export const done = 'data: [DONE]\n\n'

export function choice(delta: Json, finish_reason: string | null = null, more: Json = {}): Json {
  return { choices: [{ index: 0, delta, finish_reason }], ...more }
}

export const says = (content: string, finish: string | null = null) => choice({ content }, finish)

/** A fragment of a call. Keys that are undefined are not sent. */
export const part = (index?: number, id?: string, name?: string, args?: unknown): Json => ({
  index,
  id,
  ...(id !== undefined && { type: 'function' }),
  function: { name, arguments: args },
})
export const calls = (...tool_calls: Json[]) => choice({ tool_calls })
export const stop = (finish = 'stop') => choice({}, finish)
export const called = stop('tool_calls')
export const usage = (prompt_tokens: unknown, completion_tokens: unknown): Json => ({
  choices: [],
  usage: { prompt_tokens, completion_tokens },
})

export const rome: [string, Json] = ['weather', { city: 'Rome' }]
export const cut = { kind: 'malformed', message: "The provider's response was cut off" } as const
