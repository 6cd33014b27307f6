/** Azure: OpenAI models behind content filters, which report their findings in separate frames. */
import { answer, type ChatForm, chatService, frame, settingsWithout } from './chat.ts'

const safe = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } }
const form: ChatForm = {
  envelope: { id: 'chatcmpl-2', object: 'chat.completion.chunk', created: 1_767_322_800, model: 'gpt-4o-2024-08-06' },
  choice: { content_filter_results: safe, logprobs: null },
  lead: [
    {
      id: '',
      object: '',
      created: 0,
      model: '',
      choices: [],
      prompt_filter_results: [{ prompt_index: 0, content_filter_results: safe }],
    },
  ],
  end: (finish, usage) => [
    frame(form, {}, finish),
    // The asynchronous filter sends a choice without a delta after the answer.
    { id: '', choices: [{ index: 0, finish_reason: null, content_filter_offsets: { check_offset: 0 } }], usage: null },
    { ...form.envelope, choices: [], usage },
    'data: [DONE]\n\n',
  ],
}
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 5 },
}

export const azure = chatService(form, {
  provider: { kind: 'azure', configuration: { apiVersion: '2024-10-21' } },
  model: 'my-deployment',
  path: '/deployments/my-deployment/chat/completions?api-version=2024-10-21',
  answers: {
    reasoning: 'thoughts are never shown',
    'cached tokens': answer(
      form,
      { deltas: [{ content: 'Hi' }], usage, plain: { prompt_filter_results: [] } },
      { text: 'Hi', usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5 } },
    ),
    sources: 'chat completions there have no search',
    image: 'images are made by Responses',
  },
  reasons: { stop: 'stop', length: 'length', content_filter: 'content-filter' },
  failures: {
    'refused request': {
      status: 400,
      body: {
        error: {
          message: 'The prompt was filtered',
          type: null,
          param: 'prompt',
          code: 'content_filter',
          status: 400,
          innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: safe },
        },
      },
      told: { kind: 'rejected', status: 400, providerMessage: 'The prompt was filtered' },
    },
    'wrong key': {
      status: 401,
      body: { statusCode: 401, message: 'Unauthorized. Access token is missing or invalid.' },
      told: { kind: 'rejected', status: 401, providerMessage: 'Unauthorized. Access token is missing or invalid.' },
    },
    'rate limit': {
      status: 429,
      headers: { 'retry-after': '26' },
      body: { error: { code: '429', message: 'Requests have exceeded the call rate limit' } },
      told: {
        kind: 'rate_limited',
        retryAfterMs: 26_000,
        providerMessage: 'Requests have exceeded the call rate limit',
      },
    },
    'failure within the answer': {
      frames: [frame(form, { content: 'Hi' }), { error: { code: '503', message: 'Too busy' } }],
      told: { kind: 'unavailable', status: 503, providerMessage: 'Too busy' },
    },
  },
  requests: { settings: { ...settingsWithout('max_tokens'), max_completion_tokens: 5 } },
})
