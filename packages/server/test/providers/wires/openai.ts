/** OpenAI's chat completions. They return no reasoning, and only Responses can generate images. */
import { answer, type ChatForm, chatService, frame, openaiBody, settingsWithout, told } from './chat.ts'

const form: ChatForm = {
  envelope: {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_767_322_800,
    model: 'gpt-4o-2024-08-06',
    service_tier: 'default',
    system_fingerprint: 'fp_1',
    obfuscation: 'x7Q',
  },
  choice: { logprobs: null },
  lead: [{ choices: [{ index: 0, delta: { role: 'assistant', content: '', refusal: null }, finish_reason: null }] }],
  end: (finish, usage) => [frame(form, {}, finish), { ...form.envelope, choices: [], usage }, 'data: [DONE]\n\n'],
}
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 60, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 5, accepted_prediction_tokens: 0 },
}
const page = { type: 'url_citation', url_citation: { url: 'https://a.test', title: 'A', start_index: 0, end_index: 2 } }

export const openai = chatService(form, {
  provider: { kind: 'openai' },
  model: 'gpt-4o',
  answers: {
    reasoning: 'thoughts are never shown',
    'cached tokens': answer(
      form,
      { deltas: [{ content: 'Hi' }], usage },
      {
        text: 'Hi',
        usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5, totalTokens: 120 },
      },
    ),
    sources: answer(
      form,
      {
        deltas: [{ content: 'Hi' }, { annotations: [page] }],
        message: { content: 'Hi', refusal: null, annotations: [page] },
      },
      { text: 'Hi', sources: ['https://a.test'], usage: told },
    ),
    image: 'images are made by Responses',
  },
  reasons: { stop: 'stop', length: 'length', content_filter: 'content-filter', new: 'other' },
  failures: {
    'refused request': {
      status: 400,
      body: openaiBody('Unsupported value: stop', 'unsupported_value'),
      told: { kind: 'rejected', status: 400, providerMessage: 'Unsupported value: stop' },
    },
    'wrong key': {
      status: 401,
      body: openaiBody('Incorrect API key provided: test-token-123.', 'invalid_api_key'),
      told: { kind: 'rejected', status: 401, providerMessage: 'Incorrect API key provided: ***.' },
    },
    'rate limit': {
      status: 429,
      headers: { 'retry-after': '2', 'retry-after-ms': '1500', 'x-ratelimit-reset-requests': '1.5s' },
      body: openaiBody('Rate limit reached for gpt-4o', 'rate_limit_exceeded'),
      told: { kind: 'rate_limited', retryAfterMs: 1500, providerMessage: 'Rate limit reached for gpt-4o' },
    },
    'failure within the answer': {
      frames: [
        frame(form, { content: 'Hi' }),
        { error: { message: 'The server had an error', type: 'server_error', param: null, code: null } },
      ],
      told: { kind: 'unavailable', status: 500, providerMessage: 'The server had an error' },
    },
  },
  requests: {
    // At other addresses than OpenAI's, no setting is omitted, because the service may support it.
    settings: { ...settingsWithout(), top_k: 3 },
    roles: {
      messages: [
        { role: 'developer', content: 'd' },
        { role: 'user', content: 'u' },
        { role: 'assistant', content: 'a' },
        { role: 'system', content: 's' },
      ],
    },
  },
})
