import {
  argumentsOf,
  type FakeAnswer,
  type FakeToolCall,
  type FakeWire,
  slices,
  textOf,
  words,
} from './fake-provider-wire.ts'

type Body = Record<string, unknown>

const defaultUsage = { input_tokens: 12, output_tokens: 8 }
const signature = 'c2lnbmVkLWJ5LXRoZS1mYWtl'

export const anthropicWire: FakeWire = {
  path: '/messages',
  head: (identity, reply) =>
    event({ type: 'message_start', message: { ...envelope(identity), content: [], usage: inputUsage(reply) } }) +
    event({ type: 'ping' }),
  content(_identity, reply) {
    const blocks = [thinking(reply), text(reply), ...(reply.toolCalls ?? []).map(toolUse)].filter(
      (one) => one.length > 0,
    )
    return blocks.flatMap((frames, index) => frames.map((frame) => event({ ...frame, index })))
  },
  end(_identity, reply) {
    const usage = { output_tokens: (reply.usage ?? defaultUsage)['output_tokens'] }
    const delta = { stop_reason: stopReason(reply), stop_sequence: null }
    return event({ type: 'message_delta', delta, usage }) + event({ type: 'message_stop' })
  },
  plain(identity, reply) {
    const said = textOf(reply)
    const thought = typeof reply.reasoning === 'string' ? reply.reasoning : reply.reasoning?.join('')
    const content = [
      ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature }]),
      ...(said === '' ? [] : [{ type: 'text', text: said }]),
      ...(reply.toolCalls ?? []).map((call) => ({
        type: 'tool_use',
        id: call.id,
        name: call.name,
        input: call.arguments,
      })),
    ]
    return { ...envelope(identity), content, stop_reason: stopReason(reply), usage: reply.usage ?? defaultUsage }
  },
}

function thinking({ reasoning }: FakeAnswer): Body[] {
  if (reasoning === undefined) return []
  const pieces = typeof reasoning === 'string' ? words(reasoning) : reasoning
  return [
    { type: 'content_block_start', content_block: { type: 'thinking', thinking: '', signature: '' } },
    ...pieces.map((piece) => delta({ type: 'thinking_delta', thinking: piece })),
    delta({ type: 'signature_delta', signature }),
    { type: 'content_block_stop' },
  ]
}

function text(reply: FakeAnswer): Body[] {
  const pieces = reply.deltas ?? words(textOf(reply))
  if (pieces.length === 0) return []
  return [
    { type: 'content_block_start', content_block: { type: 'text', text: '' } },
    ...pieces.map((piece) => delta({ type: 'text_delta', text: piece })),
    { type: 'content_block_stop' },
  ]
}

function toolUse(call: FakeToolCall): Body[] {
  const { id, name } = call
  return [
    { type: 'content_block_start', content_block: { type: 'tool_use', id, name, input: {} } },
    ...slices(argumentsOf(call), call.fragments ?? 2).map((piece) =>
      delta({ type: 'input_json_delta', partial_json: piece }),
    ),
    { type: 'content_block_stop' },
  ]
}

function delta(body: Body): Body {
  return { type: 'content_block_delta', delta: body }
}

function inputUsage({ usage }: FakeAnswer): Body {
  return { ...(usage ?? defaultUsage), output_tokens: 1 }
}

function stopReason(reply: FakeAnswer): string {
  return reply.finishReason ?? (reply.toolCalls && reply.toolCalls.length > 0 ? 'tool_use' : 'end_turn')
}

function envelope({ model }: { model: string }): Body {
  return { id: 'msg_fake', type: 'message', role: 'assistant', model, stop_reason: null, stop_sequence: null }
}

function event(body: Body): string {
  return `event: ${String(body['type'])}\ndata: ${JSON.stringify(body)}\n\n`
}
