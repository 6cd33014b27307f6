import { expect, test } from 'vitest'
import { DoorRefusal } from './fields.ts'
import { readPromptName } from './names.ts'
import { readChatRequest, readResponsesRequest } from './request.ts'

const chat = (fields: object) => readChatRequest({ model: 'a', messages: [], ...fields })
const responses = (fields: object) => readResponsesRequest({ model: 'a', ...fields })

test.each([
  [{ temperature: 0.2 }, { temperature: 0.2 }],
  [{ top_p: 0.5 }, { topP: 0.5 }],
  [{ seed: 7 }, { seed: 7 }],
  [{ presence_penalty: 1 }, { presencePenalty: 1 }],
  [{ frequency_penalty: 1 }, { frequencyPenalty: 1 }],
  [{ max_tokens: 5 }, { maxTokens: 5 }],
  [{ max_completion_tokens: 5 }, { maxTokens: 5 }],
  [{ max_output_tokens: 5, max_tokens: 3 }, { maxTokens: 3 }],
  [{ stop: 'x' }, { stop: 'x' }],
  [{ stop: ['x', 'y'] }, { stop: ['x', 'y'] }],
  [{ reasoning_effort: 'low' }, { reasoningEffort: 'low' }],
  [{ reasoning: { effort: 'low', summary: 'auto' } }, { reasoningEffort: 'low', reasoningSummary: 'auto' }],
  [{ parallel_tool_calls: false }, { parallelToolCalls: false }],
  [{ response_format: { type: 'json_object' } }, { schema: { type: 'object' } }],
  [{ response_format: { type: 'json_schema', json_schema: { name: 's', schema: { a: 1 } } } }, { schema: { a: 1 } }],
  [{ text: { format: { type: 'json_schema', name: 's', schema: { a: 1 } } } }, { schema: { a: 1 } }],
  [{ response_format: { type: 'text' }, temperature: null }, {}],
])('%j is a setting under the name of the front matter', (fields, config) => {
  expect(chat(fields).settings.config).toEqual(config)
  expect(chat(fields).warnings).toEqual([])
})

test('a choice of tools is apart from the settings, because only the first model call has it', () => {
  expect(chat({ tool_choice: 'required' }).settings).toEqual({ config: {}, toolChoice: 'required', tools: [] })
  const choice = { type: 'function', name: 'search' }
  expect(chat({ tool_choice: { type: 'function', function: { name: 'search' } } }).settings.toolChoice).toEqual(choice)
  expect(responses({ tool_choice: choice }).settings.toolChoice).toEqual(choice)
})

test('tools of both forms are the same', () => {
  const parameters = { type: 'object', properties: { q: { type: 'string' } } }
  const tool = { name: 'search', description: 'Searches', parameters }
  expect(chat({ tools: [{ type: 'function', function: tool }] }).settings.tools).toEqual([tool])
  expect(responses({ tools: [{ type: 'function', ...tool, strict: true }] }).settings.tools).toEqual([
    { ...tool, strict: true },
  ])
})

test.each([
  [{ n: 2 }, 'unsupported_value', 'n'],
  [{ functions: [] }, 'unsupported_value', 'functions'],
  [{ function_call: 'auto' }, 'unsupported_value', 'function_call'],
  [{ audio: {} }, 'unsupported_value', 'audio'],
  [{ modalities: ['text', 'audio'] }, 'unsupported_value', 'modalities'],
  [{ web_search_options: {} }, 'unsupported_value', 'web_search_options'],
  [{ tools: [{ type: 'web_search' }] }, 'unsupported_tool', 'tools[0].type'],
  [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'invalid_value', 'tools[0].function.name'],
  [{ tools: Array.from({ length: 129 }, () => ({})) }, 'invalid_value', 'tools'],
  [{ tool_choice: { type: 'file_search' } }, 'unsupported_tool', 'tool_choice'],
  [{ tool_choice: 'any' }, 'invalid_value', 'tool_choice'],
  [{ temperature: 'hot' }, 'invalid_value', 'temperature'],
  [{ max_tokens: 0 }, 'invalid_value', 'max_tokens'],
  [{ response_format: { type: 'grammar' } }, 'unsupported_value', 'response_format.type'],
  [
    { response_format: { type: 'json_schema', json_schema: {} } },
    'invalid_value',
    'response_format.json_schema.schema',
  ],
  [{ user: 'x'.repeat(257) }, 'invalid_value', 'user'],
  [{ metadata: { a: 1 } }, 'invalid_value', 'metadata.a'],
  [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [at, ''])) }, 'invalid_value', 'metadata'],
  [{ messages: 'hi' }, 'invalid_value', 'messages'],
  [{ messages: [{ role: 'robot', content: '' }] }, 'invalid_value', 'messages[0].role'],
  [{ messages: [{ role: 'function', content: '' }] }, 'unsupported_value', 'messages[0].role'],
  [
    { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
    'unsupported_content',
    'messages[0].content[0].type',
  ],
  [
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    'unsupported_content',
    'messages[0].content[0].file.file_id',
  ],
  [
    { messages: [{ role: 'assistant', tool_calls: [{ id: '1', function: { name: 'a', arguments: '[]' } }] }] },
    'invalid_value',
    'messages[0].tool_calls[0].function.arguments',
  ],
  [{ parameters: { a: 1 }, prompt: { id: 'a', variables: { a: 1 } } }, 'parameters_twice', 'prompt.variables'],
  [{ prompt: { id: 'b' } }, 'model_mismatch', 'model'],
  [{ model: null }, 'invalid_value', 'model'],
  [{ tools: [{ type: { toString: 0 } }] }, 'invalid_value', 'tools[0].type'],
  [{ response_format: 'json_object' }, 'invalid_value', 'response_format'],
  [{ max_tokens: 1e20 }, 'invalid_value', 'max_tokens'],
  [{ reasoning_effort: 'x'.repeat(65) }, 'invalid_value', 'reasoning_effort'],
  [{ metadata: { ['k'.repeat(65)]: '' } }, 'invalid_value', 'metadata'],
  [{ messages: Array.from({ length: 1001 }, () => ({ role: 'user', content: '' })) }, 'invalid_value', 'messages'],
  [
    {
      messages: [
        {
          role: 'assistant',
          tool_calls: [{ id: '1', function: { name: 'a', arguments: `{"a":${'['.repeat(99)}${']'.repeat(99)}}` } }],
        },
      ],
    },
    'invalid_value',
    'messages[0].tool_calls[0].function.arguments',
  ],
])('%j is refused as %s at %s', (fields, code, param) => {
  let refusal: unknown
  try {
    chat(fields)
  } catch (error) {
    refusal = error
  }
  expect(refusal).toBeInstanceOf(DoorRefusal)
  expect(refusal).toMatchObject({ status: 400, code, param })
})

test.each([
  [{ input: Array.from({ length: 1001 }, () => ({ type: 'item_reference', id: 'msg_1' })) }, 'invalid_value', 'input'],
  [{ input: [{ type: 'file_search_call' }] }, 'unsupported_content', 'input[0].type'],
  [
    { input: [{ type: 'function_call', call_id: '1', name: 'a', arguments: '1' }] },
    'invalid_value',
    'input[0].arguments',
  ],
  [{ conversation: 'conv_1', previous_response_id: 'resp_1' }, 'unsupported_value', 'conversation'],
  [{ text: { format: { type: 'grammar' } } }, 'unsupported_value', 'text.format.type'],
])('%j is refused as %s at %s', (fields, code, param) => {
  expect(() => responses(fields)).toThrow(expect.objectContaining({ code, param }))
})

test('what has no effect is accepted silently, and what is ignored is named', () => {
  const silent = {
    ...{ store: true, n: 1, include: [], service_tier: 'auto', prompt_cache_key: 'k', prompt_cache_retention: '24h' },
    ...{ modalities: ['text'], truncation: 'disabled', logprobs: false, verbosity: 'low', prediction: {} },
  }
  expect(chat(silent).warnings).toEqual([])
  expect(chat({ store: false }).warnings).toEqual([])
  expect(responses({ store: false }).warnings).toEqual(['store: false has no effect, the operator decides'])
  const ignored = { truncation: 'auto', logprobs: true, top_logprobs: 1, logit_bias: {}, max_tool_calls: 1, é: 1 }
  expect(chat(ignored).warnings).toEqual(['ignored: truncation, logprobs, top_logprobs, logit_bias, max_tool_calls'])
})

test('parameters come from one of three places', () => {
  expect(chat({ parameters: { a: 1 } }).parameters).toEqual({ a: 1 })
  expect(readChatRequest({ model: 'a' }, '{"a":"\\u00e9"}').parameters).toEqual({ a: 'é' })
  expect(() => readChatRequest({ model: 'a' }, '{"a":"é"}')).toThrow(/ASCII/)
  expect(() => readChatRequest({ model: 'a' }, '{')).toThrow(expect.objectContaining({ param: 'X-Stet-Parameters' }))
  const variables = {
    text: { type: 'input_text', text: 'hi' },
    image: { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
    plain: 'p',
  }
  expect(readResponsesRequest({ prompt: { id: 'a', variables } }).parameters).toEqual({
    ...{ text: 'hi', image: 'data:image/png;base64,AA==', plain: 'p' },
  })
})

test('fields of the other interface are named', () => {
  expect(responses({ messages: [] }).warnings).toEqual(['ignored: messages'])
  expect(chat({ input: 'x', instructions: 'y', background: true }).warnings).toEqual([
    'ignored: input, instructions, background',
  ])
})

test('a file name of an unknown ending has the general type', () => {
  const file = { type: 'input_file', filename: 'x.constructor', file_data: 'AAAA' }
  const { items } = responses({ input: [{ role: 'user', content: [file] }] })
  expect(items).toMatchObject([{ content: [{ mimeType: 'application/octet-stream' }] }])
})

test('identity: a safety identifier comes before a user', () => {
  expect(chat({ user: 'u' }).customIdentifier).toBe('u')
  expect(chat({ user: 'u', safety_identifier: 's' }).customIdentifier).toBe('s')
})

test.each([
  [{ model: 'support/reply' }, 'support/reply', 'live'],
  [{ model: 'support/reply@12' }, 'support/reply', '12'],
  [{ prompt: { id: 'support/reply', version: '3' } }, 'support/reply', '3'],
  [{ prompt: { id: 'pmpt_1', version: '3' } }, 'pmpt_1/v3', 'live'],
  [{ prompt: { id: 'pmpt_1' } }, 'pmpt_1', 'live'],
  [{ model: 'a', prompt: { id: 'a' } }, 'a', 'live'],
])('%j names %s at %s', (body, place, version) => {
  expect(readPromptName(body).name).toMatchObject({ place, version })
})

test('messages of Chat Completions', () => {
  const { items } = chat({
    messages: [
      { role: 'developer', content: 'Be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'https://i' } },
        ],
      },
      { role: 'user', content: [{ type: 'file', file: { file_data: 'data:text/csv;base64,AA', filename: 'a.pdf' } }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{"q":1}' } }],
      },
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
      { role: 'tool', tool_call_id: 'c2', content: 'lost' },
    ],
  })
  expect(items).toEqual([
    { role: 'developer', content: [{ type: 'text', text: 'Be brief' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See' },
        { type: 'image', image: 'https://i' },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'file', file: 'data:text/csv;base64,AA', mimeType: 'text/csv', filename: 'a.pdf' }],
    },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'search', args: { q: 1 } }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'search', result: 'one\ntwo' }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c2', toolName: 'unknown', result: 'lost' }] },
  ])
})

test('items of Responses: adjacent calls are one message, reasoning is dropped, references are kept', () => {
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'search', arguments: '{}' })
  const { items } = responses({
    instructions: 'Be brief',
    input: [
      { role: 'user', content: 'hi' },
      { type: 'reasoning', summary: [], encrypted_content: 'x' },
      call('c1'),
      call('c2'),
      { type: 'function_call_output', call_id: 'c2', output: '2' },
      { type: 'item_reference', id: 'msg_1' },
      { type: 'message', role: 'user', content: [{ type: 'input_file', file_url: 'https://f/a.PDF?x=1' }] },
    ],
  })
  const part = (toolCallId: string) => ({ type: 'tool-call', toolCallId, toolName: 'search', args: {} })
  expect(items).toEqual([
    { role: 'system', content: [{ type: 'text', text: 'Be brief' }] },
    { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    { role: 'assistant', content: [part('c1'), part('c2')] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c2', toolName: 'search', result: '2' }] },
    { reference: 'msg_1', param: 'input[5].id' },
    { role: 'user', content: [{ type: 'file', file: 'https://f/a.PDF?x=1', mimeType: 'application/pdf' }] },
  ])
  expect(responses({ input: 'hi' }).items).toEqual([{ role: 'user', content: [{ type: 'text', text: 'hi' }] }])
})
