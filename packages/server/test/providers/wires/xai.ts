/**
 * xAI: reasoning under `reasoning_content`, complete calls, reasoning tokens excluded from the output count, sources in
 * the last frame, failures as plain text.
 */
import { answer, type ChatForm, chatService, filesRefused, frame, wholeCalls } from './chat.ts'

const form: ChatForm = {
  envelope: {
    id: 'a-1',
    object: 'chat.completion.chunk',
    created: 1_767_322_800,
    model: 'grok-4-0709',
    system_fingerprint: 'fp_x',
  },
  end: (finish, usage) => [
    frame(form, {}, finish),
    { ...form.envelope, choices: [], usage, citations: [] },
    'data: [DONE]\n\n',
  ],
}
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 125,
  prompt_tokens_details: { text_tokens: 100, audio_tokens: 0, image_tokens: 0, cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 5, audio_tokens: 0 },
  num_sources_used: 0,
}
const searching: ChatForm = {
  ...form,
  end: (finish, counts) => [
    frame(form, {}, finish),
    { ...form.envelope, choices: [], usage: counts, citations: ['https://a.test'] },
    'data: [DONE]\n\n',
  ],
}

export const xai = chatService(form, {
  provider: { kind: 'xai' },
  model: 'grok-4',
  answers: {
    reasoning: answer(
      form,
      {
        deltas: [{ reasoning_content: 'Let me' }, { reasoning_content: ' see' }, { content: 'Hi' }],
        message: { content: 'Hi', reasoning_content: 'Let me see', refusal: null },
      },
      { reasoning: 'Let me see', text: 'Hi' },
    ),
    'several calls': wholeCalls(form, true),
    'cached tokens': answer(
      form,
      { deltas: [{ content: 'Hi' }], usage },
      { text: 'Hi', usage: { inputTokens: 100, outputTokens: 25, cachedInputTokens: 60, reasoningTokens: 5 } },
    ),
    sources: answer(
      searching,
      { deltas: [{ content: 'Hi' }], plain: { citations: ['https://a.test'] } },
      { text: 'Hi', sources: ['https://a.test'] },
    ),
    image: 'chat completions make none',
  },
  reasons: { stop: 'stop', length: 'length', end_turn: 'stop' },
  failures: {
    'refused request': {
      status: 400,
      body: { code: 'Client specified an invalid argument', error: 'Argument not supported on this model: stop' },
      told: { kind: 'rejected', status: 400, providerMessage: 'Argument not supported on this model: stop' },
    },
    'wrong key': {
      status: 400,
      body: { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: te***23.' },
      told: { kind: 'rejected', status: 400, providerMessage: 'Incorrect API key provided: te***23.' },
    },
    'rate limit': {
      status: 429,
      body: { code: 'Some resource has been exhausted', error: 'Too many requests' },
      told: { kind: 'rate_limited', retryAfterMs: undefined, providerMessage: 'Too many requests' },
    },
    'failure within the answer': {
      frames: [frame(form, { content: 'Hi' }), { code: 'The service is currently unavailable', error: 'Try later' }],
      told: { kind: 'unavailable', status: undefined, providerMessage: 'Try later' },
    },
  },
  requests: filesRefused,
})
