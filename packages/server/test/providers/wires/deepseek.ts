/**
 * DeepSeek: `reasoning_content`, which must be sent back within tool loops; keep-alive comments; its own names for
 * cached tokens.
 */
import {
  answer,
  type ChatForm,
  call,
  chatService,
  filesRefused,
  frame,
  leadingSystemAlone,
  openaiBody,
} from './chat.ts'
import { closedSchema } from './shape.ts'

const form: ChatForm = {
  envelope: { id: '5f1', object: 'chat.completion.chunk', created: 1_767_322_800, model: 'deepseek-reasoner' },
  choice: { logprobs: null },
  lead: [
    ': keep-alive\n\n',
    {
      choices: [{ index: 0, delta: { role: 'assistant', content: null, reasoning_content: '' }, finish_reason: null }],
    },
  ],
  end: (finish, usage) => [
    frame(form, { content: '', reasoning_content: null }, finish, { usage }),
    'data: [DONE]\n\n',
  ],
}
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_cache_hit_tokens: 60,
  prompt_cache_miss_tokens: 40,
  completion_tokens_details: { reasoning_tokens: 5 },
}
const noImages = new Error('takes no image parts in any message')

export const deepseek = chatService(form, {
  provider: { kind: 'deepseek' },
  model: 'deepseek-reasoner',
  answers: {
    reasoning: answer(
      form,
      {
        deltas: [
          { content: null, reasoning_content: 'Let me' },
          { content: null, reasoning_content: ' see' },
          { content: 'Hi', reasoning_content: null },
        ],
        message: { content: 'Hi', reasoning_content: 'Let me see' },
      },
      { reasoning: 'Let me see', text: 'Hi' },
    ),
    'cached tokens': answer(
      form,
      { deltas: [{ content: 'Hi' }], usage },
      { text: 'Hi', usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5 } },
    ),
    sources: 'it has no search',
    image: 'it makes none',
  },
  reasons: {
    stop: 'stop',
    length: 'length',
    content_filter: 'content-filter',
    insufficient_system_resource: 'error',
  },
  failures: {
    'refused request': {
      status: 402,
      body: {
        error: { message: 'Insufficient Balance', type: 'unknown_error', param: null, code: 'invalid_request_error' },
      },
      told: { kind: 'rejected', status: 402, providerMessage: 'Insufficient Balance' },
    },
    'wrong key': {
      status: 401,
      body: openaiBody('Authentication Fails, Your api key: ****-123 is invalid'),
      told: {
        kind: 'rejected',
        status: 401,
        providerMessage: 'Authentication Fails, Your api key: ****-123 is invalid',
      },
    },
    'rate limit': {
      status: 429,
      body: openaiBody('Rate limit reached'),
      told: { kind: 'rate_limited', retryAfterMs: undefined, providerMessage: 'Rate limit reached' },
    },
    'failure within the answer': {
      frames: [
        frame(form, { content: 'Hi' }),
        { error: { message: 'Server overloaded', code: 'service_unavailable' } },
      ],
      told: { kind: 'unavailable', status: 503, providerMessage: 'Server overloaded' },
    },
  },
  requests: {
    'image by URL': noImages,
    'image by content': noImages,
    ...filesRefused,
    'structured answer': {
      response_format: { type: 'json_object' },
      messages: [
        {
          role: 'system',
          content: `Answer with JSON alone, valid against this JSON schema:\n${JSON.stringify(closedSchema)}`,
        },
        { role: 'user', content: 'Hi' },
      ],
    },
    roles: leadingSystemAlone,
    'tool turn': {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, reasoning_content: 'Hm', tool_calls: [call('call_abc', 'stop', '{}')] },
        { role: 'tool', tool_call_id: 'call_abc', content: '{"done":true}' },
      ],
    },
    'generated image': noImages,
  },
})
