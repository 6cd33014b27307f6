/** The request for each API. The types of the APIs' own clients check the expectations. */
import type Anthropic from '@anthropic-ai/sdk'
import type { RenderedMessage, RenderedPart } from '@stet/template'
import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { readAnswer, writeConversation } from '../../src/render/adapter.ts'
import { renderChain } from '../../src/render/index.ts'

type Chat = OpenAI.ChatCompletionMessageParam[]
/** The API takes output without an id, which its types demand. An id would demand the reasoning before it. */
type Said = Omit<OpenAI.Responses.ResponseOutputMessage, 'id' | 'status'>
type Items = (OpenAI.Responses.ResponseInputItem | Said)[]
type Turns = Anthropic.MessageParam[]

const PNG = 'data:image/png;base64,aGVsbG8='
const text = (said: string): RenderedPart => ({ type: 'text', text: said })
const image = (data: unknown): RenderedPart => ({ type: 'image', image: data })
const file = (data: unknown, mimeType: string): RenderedPart => ({ type: 'file', file: data, mimeType })
const call: RenderedPart = { type: 'tool-call', toolCallId: 'a', toolName: 'look_up', args: { q: 'x' } }
const result = (id: string, given: unknown, more = {}): RenderedPart => {
  return { type: 'tool-result', toolCallId: id, toolName: 'look_up', result: given, ...more }
}
const user = (...content: RenderedPart[]): RenderedMessage => ({ role: 'user', content })
const assistant = (...content: RenderedPart[]): RenderedMessage => ({ role: 'assistant', content })
const tool = (...content: RenderedPart[]): RenderedMessage => ({ role: 'tool', content })

const images = user(
  image('https://host/a.png'),
  image(PNG),
  image('data:image/gif;base64,R0lGOD'),
  image('/9j/4AAQ'),
  image(new URL('https://host/b.png')),
  image(Buffer.from('hello')),
  file('aGVsbG8=', 'image/webp'),
)
const results = tool(result('a', { found: 1 }), result('b', 'no', { isError: true }), result('c', []))

describe('openai', () => {
  const written = (...messages: RenderedMessage[]) => writeConversation({}, messages, { adapter: 'openai' }).messages
  const toolCall = { id: 'a', type: 'function', function: { name: 'look_up', arguments: '{"q":"x"}' } } as const

  it.each<[string, RenderedMessage, Chat]>([
    ['only calls', assistant(call), [{ role: 'assistant', content: null, tool_calls: [toolCall] }]],
    ['nothing', assistant(), [{ role: 'assistant', content: '' }]],
    ['an empty user message', user(), [{ role: 'user', content: '' }]],
    ['a developer', { role: 'developer', content: [text('Be brief.')] }, [{ role: 'developer', content: 'Be brief.' }]],
    [
      'a name',
      { ...user(text('Hi')), name: 'Ada', cache: 1 },
      [{ role: 'user', name: 'Ada', content: [{ type: 'text', text: 'Hi' }] }],
    ],
    [
      'images',
      images,
      [
        {
          role: 'user',
          content: [
            'https://host/a.png',
            PNG,
            'data:image/gif;base64,R0lGOD',
            'data:image/jpeg;base64,/9j/4AAQ',
            'https://host/b.png',
            PNG,
            'data:image/webp;base64,aGVsbG8=',
          ].map((url) => ({ type: 'image_url', image_url: { url } })),
        },
      ],
    ],
    [
      'audio and a PDF',
      user(file('aGVsbG8=', 'audio/mpeg'), file('aGVsbG8=', 'audio/wav'), {
        ...file('aGVsbG8=', 'application/pdf'),
        name: 'a.pdf',
      }),
      [
        {
          role: 'user',
          content: [
            { type: 'input_audio', input_audio: { data: 'aGVsbG8=', format: 'mp3' } },
            { type: 'input_audio', input_audio: { data: 'aGVsbG8=', format: 'wav' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,aGVsbG8=', filename: 'a.pdf' } },
          ],
        },
      ],
    ],
    [
      'results',
      results,
      [
        { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: '{"found":1}' }] },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'no' }] },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: '[]' }] },
      ],
    ],
  ])('writes %s', (_, message, expected) => {
    expect(written(message)).toStrictEqual(expected)
  })

  it.each([
    ['audio by URL', user(file('https://host/a.mp3', 'audio/mpeg'))],
    ['images in results', tool(result('a', [image(PNG)]))],
  ])('refuses %s', (_, message) => {
    expect(() => written(message)).toThrow('The message format openai does not support')
  })

  it('sends back only what the API accepts of a response', () => {
    const said = {
      role: 'assistant',
      content: null,
      refusal: null,
      annotations: [],
      audio: null,
      tool_calls: [toolCall],
    }
    const expected: Chat = [{ role: 'assistant', content: null, refusal: null, tool_calls: [toolCall] }]
    expect(written(...readAnswer(said, 'openai'))).toStrictEqual(expected)
  })
})

describe('openaiResponses', () => {
  const written = (...messages: RenderedMessage[]) => {
    return writeConversation({}, messages, { adapter: 'openaiResponses' }).messages
  }
  const functionCall = { type: 'function_call', call_id: 'a', name: 'look_up', arguments: '{"q":"x"}' } as const
  const spoken = (said: string): Said => {
    return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said, annotations: [] }] }
  }

  it.each<[string, RenderedMessage, Items]>([
    ['the model’s text and call', assistant(text('Wait.'), call), [spoken('Wait.'), functionCall]],
    ['only calls', assistant(call), [functionCall]],
    ['empty messages', assistant(text('')), []],
    ['an empty user message', user(), []],
    [
      'images',
      user(image(PNG), image('aGVsbG8='), image('https://host/a.png')),
      [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_image', detail: 'auto', image_url: PNG },
            { type: 'input_image', detail: 'auto', image_url: PNG },
            { type: 'input_image', detail: 'auto', image_url: 'https://host/a.png' },
          ],
        },
      ],
    ],
    [
      'files',
      user(file('aGVsbG8=', 'application/pdf'), file('https://host/a.pdf', 'application/pdf')),
      [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_file', file_data: 'data:application/pdf;base64,aGVsbG8=', filename: 'file' },
            { type: 'input_file', file_url: 'https://host/a.pdf' },
          ],
        },
      ],
    ],
    [
      'results',
      tool(result('a', { found: 1 }), result('b', [text('see'), image(PNG)])),
      [
        { type: 'function_call_output', call_id: 'a', output: '{"found":1}', status: 'completed' },
        {
          type: 'function_call_output',
          call_id: 'b',
          output: [
            { type: 'input_text', text: 'see' },
            { type: 'input_image', detail: 'auto', image_url: PNG },
          ],
          status: 'completed',
        },
      ],
    ],
  ])('writes %s', (_, message, expected) => {
    expect(written(message)).toStrictEqual(expected)
  })

  it.each([
    ['audio', user(file('aGVsbG8=', 'audio/wav'))],
    ['images of the model', assistant(image(PNG))],
  ])('refuses %s', (_, message) => {
    expect(() => written(message)).toThrow('The message format openaiResponses does not support')
  })

  it('reads the whole output of a response, and sends it back', async () => {
    const reasoning: OpenAI.Responses.ResponseReasoningItem = {
      id: 'rs_1',
      type: 'reasoning',
      summary: [],
      encrypted_content: 'x',
    }
    const output: OpenAI.Responses.ResponseOutputItem[][] = [
      [
        reasoning,
        {
          id: 'ws_1',
          type: 'web_search_call',
          status: 'completed',
          action: { type: 'search', query: 'x', queries: ['x'] },
        },
        { ...functionCall, id: 'fc_1', status: 'completed' },
      ],
      [
        { ...reasoning, encrypted_content: null },
        { ...spoken('Done.'), id: 'msg_1', status: 'completed' },
      ],
    ]
    const { messages } = await renderChain<OpenAI.Responses.ResponseInputItem>('<user>Where?</user>', {
      adapter: 'openaiResponses',
      onStep: async () => output.shift() ?? '',
      tools: { look_up: () => 'here' },
    })
    const expected: Items = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where?' }] },
      reasoning,
      functionCall,
      { type: 'function_call_output', call_id: 'a', output: 'here', status: 'completed' },
      spoken('Done.'),
    ]
    expect(messages).toStrictEqual(expected)
  })

  it('refuses an empty list', async () => {
    const chain = renderChain('Hi', { adapter: 'openaiResponses', onStep: async () => [] })
    await expect(chain).rejects.toThrow('onStep returned a list without messages')
  })
})

describe('anthropic', () => {
  const written = (...messages: RenderedMessage[]) => writeConversation({}, messages, { adapter: 'anthropic' }).messages
  const use = { type: 'tool_use', id: 'a', name: 'look_up', input: { q: 'x' } } as const

  it.each<[string, RenderedMessage[], Turns]>([
    [
      'other keys',
      [{ ...user(text('Hi')), name: 'Ada', cache: 1 }],
      [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    ],
    [
      'no empty round',
      [assistant(call), tool(), tool(result('a', 'found'))],
      [
        { role: 'assistant', content: [use] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'found' }] }],
        },
      ],
    ],
    ['no empty texts', [user(text('')), assistant(text(''), call)], [{ role: 'assistant', content: [use] }]],
    [
      'images',
      [images],
      [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'url', url: 'https://host/a.png' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'R0lGOD' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: '/9j/4AAQ' } },
            { type: 'image', source: { type: 'url', url: 'https://host/b.png' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'aGVsbG8=' } },
          ],
        },
      ],
    ],
    [
      'all results of a round in one message',
      [
        results,
        tool(
          result('d', [
            file(Buffer.from('%PDF – 🙂'), 'application/pdf'),
            file('https://host/a.pdf', 'application/pdf'),
          ]),
        ),
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: '{"found":1}' }] },
            { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'no' }], is_error: true },
            { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: '[]' }] },
            {
              type: 'tool_result',
              tool_use_id: 'd',
              content: [
                {
                  type: 'document',
                  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERiDigJMg8J+Zgg==' },
                },
                { type: 'document', source: { type: 'url', url: 'https://host/a.pdf' } },
              ],
            },
          ],
        },
      ],
    ],
  ])('writes %s', (_, messages, expected) => {
    expect(written(...messages)).toStrictEqual(expected)
  })

  it('sends back only the content of a response', () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's' } as const
    const said = {
      id: 'msg_1',
      type: 'message',
      model: 'm',
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
      role: 'assistant',
      content: [thinking, use],
    }
    const expected: Turns = [{ role: 'assistant', content: [thinking, use] }]
    expect(written(...readAnswer(said, 'anthropic'))).toStrictEqual(expected)
  })
})
