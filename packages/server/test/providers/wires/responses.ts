/** OpenAI's Responses: items with a start and an end, and a last frame that repeats all of them. */
import { bare, bern, openaiBody, twoCalls } from './chat.ts'
import { openai } from './openai.ts'
import type { AnswerWire, Json, KindWire, Told } from './shape.ts'
import { closedSchema, pixel, proxyFailure } from './shape.ts'

const counts = { input_tokens: 12, output_tokens: 8, total_tokens: 20 }

/** @param frames the frames between an item's start and end, one list for each item. */
function answer(
  items: Json[],
  frames: readonly Json[][],
  told: Omit<Told, 'finishReason'> & Partial<Told>,
  usage = counts,
): AnswerWire {
  const response = { id: 'resp_1', object: 'response', status: 'completed', error: null, output: items, usage }
  const shown = items.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item: { ...item, ...unfinished(item) } },
    ...(frames[output_index] ?? []).map((frame) => ({ output_index, item_id: item['id'], ...frame })),
    { type: 'response.output_item.done', output_index, item },
  ])
  return {
    frames: [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
      ...shown,
      { type: 'response.completed', response },
    ],
    plain: response,
    told: { finishReason: 'stop', ...told },
  }
}

function unfinished({ type }: Json): Json {
  return type === 'function_call'
    ? { arguments: '' }
    : type === 'image_generation_call'
      ? { result: null, status: 'generating' }
      : { content: [], summary: [] }
}

const page = { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 2 }
const message = (text: string, annotations: Json[] = []) => ({
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations, logprobs: [] }],
})
const words = (...deltas: string[]) => deltas.map((delta) => ({ type: 'response.output_text.delta', delta }))
const thought = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Let me see' }],
  encrypted_content: 'sealed',
}
const call = (id: string, name: string, json: string) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: json,
  status: 'completed',
})
const pieces = (...deltas: string[]) =>
  deltas.map((delta) => ({ type: 'response.function_call_arguments.delta', delta }))
const drawing = {
  type: 'image_generation_call',
  id: 'ig_1',
  status: 'completed',
  output_format: 'webp',
  revised_prompt: 'A dot',
  result: pixel,
}
const asked = { type: 'input_text', text: 'See' }
const input = (...items: Json[]) => ({ input: items })
/** Texts are one string. Only other parts need a list. */
const said = (role: string, ...content: Json[]) => {
  const isText = content.every(({ type }) => type === 'input_text')
  return { type: 'message', role, content: isText ? content.map((part) => part['text']).join('\n') : content }
}
const text = (value: string) => ({ type: 'input_text', text: value })
const dataUrl = `data:image/png;base64,${pixel}`

export const responses: KindWire = {
  provider: { kind: 'openai', configuration: { endpoint: 'responses' } },
  model: 'gpt-5',
  path: '/responses',
  answers: {
    text: answer([message('Grüß dich')], [words('Grüß', ' dich')], { text: 'Grüß dich' }),
    reasoning: answer(
      [thought, message('Hi')],
      [
        [
          { type: 'response.reasoning_summary_part.added', summary_index: 0 },
          { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: 'Let me' },
          { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: ' see' },
        ],
        words('Hi'),
      ],
      { reasoning: 'Let me see', text: 'Hi' },
    ),
    'split call': answer([call('c1', 'weather', '{"city":"Bern"}')], [pieces('{"city":', '"Bern"}')], bern),
    'several calls': answer(
      [call('c1', 'weather', '{"city":"Bern"}'), call('c2', 'stop', '{"now":true}')],
      [pieces('{"city":"Bern"}'), pieces('{"now":true}')],
      twoCalls,
    ),
    'call without arguments': answer([call('c1', 'stop', '')], [], bare),
    'cached tokens': answer(
      [message('Hi')],
      [words('Hi')],
      {
        text: 'Hi',
        usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5, totalTokens: 120 },
      },
      Object.assign(
        { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
        { input_tokens_details: { cached_tokens: 60 }, output_tokens_details: { reasoning_tokens: 5 } },
      ),
    ),
    sources: answer(
      [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }, message('Hi', [page])],
      [[], [...words('Hi'), { type: 'response.output_text.annotation.added', annotation: page }]],
      { text: 'Hi', sources: ['https://a.test'] },
    ),
    image: answer(
      [drawing, message('See')],
      [[{ type: 'response.image_generation_call.partial_image', partial_image_b64: 'AAAA' }], words('See')],
      { text: 'See', files: [[`data:image/webp;base64,${pixel}`, 'image/webp']] },
    ),
  },
  ending: (reason) => {
    const status = reason === 'completed' ? reason : 'incomplete'
    return [
      { type: `response.${status}`, response: { status, incomplete_details: status === reason ? null : { reason } } },
    ]
  },
  reasons: { completed: 'stop', max_output_tokens: 'length', content_filter: 'content-filter', new: 'other' },
  failures: {
    ...openai.failures,
    'refused request': {
      status: 400,
      body: openaiBody("Unknown parameter: 'x'.", 'unknown_parameter'),
      told: { kind: 'rejected', status: 400, providerMessage: "Unknown parameter: 'x'." },
    },
    'failure within the answer': {
      frames: [
        {
          type: 'response.failed',
          response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down' } },
        },
      ],
      told: { kind: 'rate_limited', status: 429, providerMessage: 'Slow down' },
    },
    proxy: proxyFailure,
  },
  requests: {
    'image by URL': input(
      said('user', asked, { type: 'input_image', image_url: 'https://pics.test/a.png', detail: 'auto' }),
    ),
    'image by content': input(said('user', asked, { type: 'input_image', image_url: dataUrl, detail: 'auto' })),
    'PDF by content': input(
      said('user', asked, { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' }),
    ),
    'PDF by URL': input(said('user', asked, { type: 'input_file', file_url: 'https://docs.test/a.pdf' })),
    'sound by content': new Error('takes no audio file parts in Responses calls'),
    'structured answer': {
      text: { format: { type: 'json_schema', name: 'answer', schema: closedSchema, strict: true } },
    },
    tools: {
      tools: [{ type: 'function', name: 'stop', description: 'Stops.', parameters: { type: 'object' }, strict: false }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    },
    settings: {
      store: false,
      temperature: 0.5,
      top_p: 0.9,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 5,
      stream: true,
    },
    roles: input(
      said('developer', text('d')),
      said('user', text('u')),
      { type: 'message', role: 'assistant', content: 'a' },
      said('system', text('s')),
    ),
    'several texts': input(said('system', text('a'), text('b')), said('user', text('c'), text('d'))),
    'tool turn': input(
      said('user', text('Hi')),
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'sealed' },
      { type: 'function_call', call_id: 'call_abc', name: 'stop', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_abc', output: '{"done":true}' },
    ),
    'generated image': input(
      said('user', text('Draw')),
      { type: 'message', role: 'assistant', content: 'Here.' },
      said('user', { type: 'input_image', image_url: dataUrl, detail: 'auto' }),
      said('user', text('Bluer')),
    ),
  },
}
