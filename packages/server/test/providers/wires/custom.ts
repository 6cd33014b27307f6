/**
 * Any other service, here a gateway like OpenRouter: comments, both names for reasoning, images, sources, and failures
 * of the services behind it.
 */
import { answer, bareCall, type ChatForm, chatService, frame, settingsWithout, told, usage } from './chat.ts'
import { pixel } from './shape.ts'

const form: ChatForm = {
  envelope: {
    id: 'gen-1',
    object: 'chat.completion.chunk',
    created: 1_767_322_800,
    model: 'vendor/model',
    provider: 'Vendor',
  },
  choice: { native_finish_reason: null, logprobs: null },
  lead: [': PROCESSING\n\n', ': PROCESSING\n\n'],
  end: (finish, counts) => [
    frame(form, { role: 'assistant', content: '' }, finish),
    frame(form, { role: 'assistant', content: '' }, null, { usage: { ...counts, cost: 0.001 } }),
    'data: [DONE]\n\n',
  ],
}
const counts = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 5 },
}
const dataUrl = `data:image/png;base64,${pixel}`
const images = [{ type: 'image_url', image_url: { url: dataUrl }, index: 0 }]
const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.test', title: 'A', content: '…' } }]

export const custom = chatService(form, {
  provider: { kind: 'custom' },
  model: 'vendor/model',
  answers: {
    reasoning: answer(
      form,
      {
        deltas: [
          { content: '', reasoning: 'Let me', reasoning_content: 'Let me', reasoning_details: [{ text: 'Let me' }] },
          { content: '', reasoning: ' see' },
          { content: 'Hi' },
        ],
        message: { content: 'Hi', reasoning: 'Let me see', reasoning_details: [{ text: 'Let me see' }] },
      },
      { reasoning: 'Let me see', text: 'Hi' },
    ),
    'call without arguments': bareCall(form, ''),
    'cached tokens': answer(
      form,
      { deltas: [{ content: 'Hi' }], usage: counts },
      { text: 'Hi', usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, reasoningTokens: 5 } },
    ),
    sources: answer(
      form,
      { deltas: [{ content: 'Hi' }, { content: '', annotations }], message: { content: 'Hi', annotations } },
      { text: 'Hi', sources: ['https://a.test'] },
    ),
    image: answer(
      form,
      {
        deltas: [{ content: 'See' }, { content: '', images }, { content: '', images }],
        message: { content: 'See', images },
        usage,
      },
      { text: 'See', files: [[dataUrl, 'image/png']], usage: told },
    ),
  },
  reasons: {
    stop: 'stop',
    eos: 'stop',
    length: 'length',
    content_filter: 'content-filter',
    error: 'error',
  },
  failures: {
    'refused request': {
      status: 402,
      body: { error: { code: 402, message: 'Insufficient credits' }, user_id: 'u' },
      told: { kind: 'rejected', status: 402, providerMessage: 'Insufficient credits' },
    },
    'wrong key': {
      status: 401,
      body: { error: 'No auth credentials found' },
      told: { kind: 'rejected', status: 401, providerMessage: 'No auth credentials found' },
    },
    'rate limit': {
      status: 429,
      headers: { 'retry-after': '3' },
      body: { error: { code: 429, message: 'Provider returned error', metadata: { raw: 'model is busy upstream' } } },
      told: {
        kind: 'rate_limited',
        retryAfterMs: 3000,
        providerMessage: 'Provider returned error: model is busy upstream',
      },
    },
    'failure within the answer': {
      frames: [
        frame(form, { content: 'Hi' }),
        frame(form, { content: '' }, 'error', { error: { code: 502, message: 'Vendor disconnected' } }),
      ],
      told: { kind: 'unavailable', status: 502, providerMessage: 'Vendor disconnected' },
    },
  },
  requests: { settings: { ...settingsWithout(), top_k: 3 } },
})
