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

const defaultUsage = { input_tokens: 12, output_tokens: 8, total_tokens: 20 }

export const responsesWire: FakeWire = {
  path: '/responses',
  head: (identity) => event({ type: 'response.created', response: { ...envelope(identity), status: 'in_progress' } }),
  content: (_identity, reply) =>
    [...thought(reply), ...message(reply), ...(reply.toolCalls ?? []).flatMap(call)].map(event),
  end(identity, reply) {
    const response = this.plain(identity, reply)
    return event({ type: `response.${String(response['status'])}`, response })
  },
  plain(identity, reply) {
    const items = [...thought(reply), ...message(reply), ...(reply.toolCalls ?? []).flatMap(call)]
    const isCut = reply.finishReason !== undefined
    return {
      ...envelope(identity),
      status: isCut ? 'incomplete' : 'completed',
      incomplete_details: isCut ? { reason: reply.finishReason } : null,
      output: items.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item),
      ...(reply.usage === null ? {} : { usage: reply.usage ?? defaultUsage }),
    }
  },
}

function thought({ reasoning }: FakeAnswer): Body[] {
  if (reasoning === undefined) return []
  const pieces = typeof reasoning === 'string' ? words(reasoning) : reasoning
  const item = { type: 'reasoning', id: 'rs_fake', summary: [] as Body[] }
  const whole = { ...item, summary: [{ type: 'summary_text', text: pieces.join('') }], encrypted_content: 'c2VhbGVk' }
  return [
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.reasoning_summary_part.added', item_id: item.id, summary_index: 0 },
    ...pieces.map((delta) => ({ type: 'response.reasoning_summary_text.delta', item_id: item.id, delta })),
    { type: 'response.output_item.done', output_index: 0, item: whole },
  ]
}

function message(reply: FakeAnswer): Body[] {
  const pieces = reply.deltas ?? words(textOf(reply))
  if (pieces.length === 0) return []
  const item = { type: 'message', id: 'msg_fake', role: 'assistant', content: [] as Body[] }
  const whole = { ...item, content: [{ type: 'output_text', text: pieces.join(''), annotations: [] }] }
  return [
    { type: 'response.output_item.added', output_index: 1, item },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', item_id: item.id, delta })),
    { type: 'response.output_item.done', output_index: 1, item: whole },
  ]
}

function call(tool: FakeToolCall, index: number): Body[] {
  const item = { type: 'function_call', id: `fc_${index}`, call_id: tool.id, name: tool.name }
  const json = argumentsOf(tool)
  return [
    { type: 'response.output_item.added', output_index: 2 + index, item: { ...item, arguments: '' } },
    ...slices(json, tool.fragments ?? 2).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      item_id: item.id,
      delta,
    })),
    { type: 'response.output_item.done', output_index: 2 + index, item: { ...item, arguments: json } },
  ]
}

function envelope({ model }: { model: string }): Body {
  return { id: 'resp_fake', object: 'response', created_at: 1_767_322_800, model, error: null }
}

function event(body: Body): string {
  return `event: ${String(body['type'])}\ndata: ${JSON.stringify(body)}\n\n`
}
