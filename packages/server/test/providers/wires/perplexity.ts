/**
 * Perplexity: reasoning between `<think>` marks, sources and usage in every frame, the whole message next to each
 * delta, no end mark, no tools.
 */
import { answer, type ChatForm, chatService, frame, leadingSystemAlone, settingsWithout, told, usage } from './chat.ts'

const pages = {
  citations: ['https://a.test', 'https://b.test'],
  search_results: [
    { title: 'A', url: 'https://a.test', date: '2026-01-02', snippet: '…' },
    { title: 'B', url: 'https://b.test', date: null },
  ],
}
const form: ChatForm = {
  envelope: { id: 'p-1', object: 'chat.completion.chunk', created: 1_767_322_800, model: 'sonar-pro', usage },
  choice: { message: { role: 'assistant', content: 'all of it so far' } },
  end: (finish, counts) => [frame(form, { content: '' }, finish, { usage: counts })],
}
const searching: ChatForm = {
  ...form,
  envelope: { ...form.envelope, ...pages },
  end: (finish, counts) => [frame(searching, { content: '' }, finish, { usage: counts })],
}
const counts = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  search_context_size: 'low',
  citation_tokens: 2000,
  num_search_queries: 18,
  reasoning_tokens: 700,
}
const noTools = 'it knows no tools'
const asked = { type: 'text', text: 'See' }
const document = (url: string) => ({
  messages: [{ role: 'user', content: [asked, { type: 'file_url', file_url: { url }, file_name: 'a.pdf' }] }],
})
const unauthorized =
  '<html>\r\n<head><title>401 Authorization Required</title></head>\r\n<body>\r\n<center><h1>401 Authorization Required' +
  '</h1></center>\r\n<script>var a = 1</script></body>\r\n</html>'

export const perplexity = chatService(form, {
  provider: { kind: 'perplexity' },
  model: 'sonar-pro',
  answers: {
    reasoning: answer(
      form,
      { deltas: [{ content: '<think>Let me see' }, { content: '</think>Hi' }] },
      { text: '<think>Let me see</think>Hi' },
    ),
    'split call': noTools,
    'several calls': noTools,
    'call without arguments': noTools,
    'cached tokens': answer(
      form,
      { deltas: [{ content: 'Hi' }], usage: counts },
      { text: 'Hi', usage: { inputTokens: 100, outputTokens: 720, reasoningTokens: 700, cachedInputTokens: 0 } },
    ),
    sources: answer(
      searching,
      { deltas: [{ content: 'Hi' }, { content: ' [1]' }] },
      { text: 'Hi [1]', sources: ['https://a.test', 'https://b.test'], usage: told },
    ),
    image: 'found images are not the model’s',
  },
  reasons: { stop: 'stop', length: 'length' },
  failures: {
    'refused request': {
      status: 400,
      body: { error: { message: 'Invalid model', type: 'invalid_model', code: 400 } },
      told: { kind: 'rejected', status: 400, providerMessage: 'Invalid model' },
    },
    'wrong key': {
      status: 401,
      headers: { 'content-type': 'text/html' },
      body: unauthorized,
      told: { kind: 'rejected', status: 401, providerMessage: '401 Authorization Required 401 Authorization Required' },
    },
    'rate limit': {
      status: 429,
      body: { error: { message: 'Request rate limit exceeded', type: 'request_rate_limit_exceeded', code: 429 } },
      told: { kind: 'rate_limited', retryAfterMs: undefined, providerMessage: 'Request rate limit exceeded' },
    },
    'failure within the answer': {
      frames: [frame(form, { content: 'Hi' }), { error: { message: 'Search failed', type: 'internal', code: 500 } }],
      told: { kind: 'unavailable', status: 500, providerMessage: 'Search failed' },
    },
  },
  requests: {
    'PDF by content': document('JVBERi0='),
    'PDF by URL': document('https://docs.test/a.pdf'),
    'sound by content': new Error('takes no audio file parts in any message'),
    tools: new Error('takes no tools'),
    settings: { ...settingsWithout('stream_options'), top_k: 3 },
    roles: leadingSystemAlone,
    'generated image': {
      messages: [
        { role: 'user', content: 'Draw' },
        { role: 'assistant', content: 'Here.' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
            { type: 'text', text: 'Bluer' },
          ],
        },
      ],
    },
  },
})
