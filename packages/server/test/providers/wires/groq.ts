/** Groq: reasoning under `reasoning`, complete calls, usage and failures also under `x_groq`. */
import { answer, type ChatForm, chatService, filesRefused, frame, openaiBody, wholeCalls } from './chat.ts'

const form: ChatForm = {
  envelope: { id: 'chatcmpl-3', object: 'chat.completion.chunk', created: 1_767_322_800, model: 'openai/gpt-oss-120b' },
  choice: { logprobs: null },
  lead: [
    {
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
      x_groq: { id: 'req_1' },
    },
  ],
  // The last choice has usage under `x_groq`. A caller that requested usage gets it twice.
  end: (finish, usage) => [frame(form, {}, finish, { x_groq: { id: 'req_1', usage } }), 'data: [DONE]\n\n'],
}
const usage = {
  queue_time: 0.04,
  prompt_tokens: 100,
  prompt_time: 0.01,
  completion_tokens: 20,
  completion_time: 0.2,
  total_tokens: 120,
  total_time: 0.21,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 5 },
}
const unmade = { code: 'tool_use_failed', failed_generation: '<function=stop>' }

export const groq = chatService(form, {
  provider: { kind: 'groq' },
  model: 'openai/gpt-oss-120b',
  answers: {
    reasoning: answer(
      form,
      {
        deltas: [{ reasoning: 'Let me', channel: 'analysis' }, { reasoning: ' see' }, { content: 'Hi' }],
        message: { content: 'Hi', reasoning: 'Let me see' },
      },
      { reasoning: 'Let me see', text: 'Hi' },
    ),
    'several calls': wholeCalls(form, true),
    'cached tokens': answer(
      form,
      { deltas: [{ content: 'Hi' }], usage },
      { text: 'Hi', usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5 } },
    ),
    sources: 'what its own tools found is told in no common form',
    image: 'no model of it makes images',
  },
  reasons: { stop: 'stop', length: 'length' },
  failures: {
    'refused request': {
      status: 400,
      body: { error: { message: 'Failed to call a function.', type: 'invalid_request_error', ...unmade } },
      told: { kind: 'rejected', status: 400, providerMessage: 'Failed to call a function.: <function=stop>' },
    },
    'wrong key': {
      status: 401,
      body: openaiBody('Invalid API Key', 'invalid_api_key'),
      told: { kind: 'rejected', status: 401, providerMessage: 'Invalid API Key' },
    },
    'rate limit': {
      status: 429,
      headers: { 'retry-after': '2', 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1.9s' },
      body: { error: { message: 'Rate limit reached', type: 'tokens', code: 'rate_limit_exceeded' } },
      told: { kind: 'rate_limited', retryAfterMs: 2000, providerMessage: 'Rate limit reached' },
    },
    'failure within the answer': {
      frames: [
        frame(form, { content: 'Hi' }),
        { error: { message: 'Failed to call a function.', status_code: 400, ...unmade } },
      ],
      told: { kind: 'rejected', status: 400, providerMessage: 'Failed to call a function.: <function=stop>' },
    },
  },
  requests: {
    ...filesRefused,
  },
})
