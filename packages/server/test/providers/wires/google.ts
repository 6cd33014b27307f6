/**
 * Google's OpenAI address: flagged reasoning text between marks, calls without an index that end with `stop`,
 * signatures that must be sent back, failures in lists.
 */
import {
  answer,
  type ChatForm,
  call,
  chatService,
  frame,
  leadingSystemAlone,
  settingsWithout,
  told,
  twoCalls,
  usage,
} from './chat.ts'
import { pixel } from './shape.ts'

const form: ChatForm = {
  envelope: { id: '1UR', object: 'chat.completion.chunk', created: 1_767_322_800, model: 'gemini-2.5-flash' },
  end: (finish, counts) => [
    frame(form, { content: null, extra_content: { google: { thought_signature: 'of the text' } } }, finish, {
      usage: counts,
    }),
    'data: [DONE]\n\n',
  ],
}
const flagged = { google: { thought: true } }
const signed = (thought_signature: string) => ({ extra_content: { google: { thought_signature } } })
const calls = [call('jm4', 'weather', '{"city":"Bern"}', signed('s1')), call('k01', 'stop', '{"now":true}')]
const counts = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 60 },
}
const dataUrl = `data:image/png;base64,${pixel}`

export const google = chatService(form, {
  provider: { kind: 'google' },
  model: 'gemini-2.5-flash',
  answers: {
    reasoning: answer(
      form,
      {
        deltas: [
          { role: 'assistant', content: '<thou', extra_content: flagged },
          { content: 'ght>Let me', extra_content: flagged },
          { content: ' see: 1 <', extra_content: flagged },
          { content: ' 2', extra_content: flagged },
          { content: '</thou', extra_content: null },
          { content: 'ght>Hi', extra_content: null },
          { content: ' <b>' },
        ],
        message: { content: '<thought>Let me see: 1 < 2</thought>Hi <b>', extra_content: flagged },
      },
      { reasoning: 'Let me see: 1 < 2', text: 'Hi <b>' },
    ),
    'split call': answer(
      form,
      {
        deltas: [
          { tool_calls: [call('jm4', 'weather', '{"city":')] },
          { tool_calls: [{ function: { arguments: '"Bern"}' } }] },
          { tool_calls: [call('', 'stop', '{"now":')] },
          { tool_calls: [{ function: { arguments: 'true}' } }] },
        ],
        message: { content: null, tool_calls: calls },
      },
      twoCalls,
    ),
    'several calls': answer(
      form,
      { deltas: [{ tool_calls: calls.slice(0, 1) }, { tool_calls: calls.slice(1) }], message: { tool_calls: calls } },
      twoCalls,
    ),
    'call without arguments': answer(
      form,
      {
        deltas: [{ tool_calls: [call('', 'stop', ''), call('', 'go', '{}')] }],
        message: { tool_calls: [call('', 'stop', ''), call('', 'go', '{}')] },
      },
      {
        calls: [
          ['stop', {}],
          ['go', {}],
        ],
        finishReason: 'tool-calls',
      },
    ),
    'cached tokens': answer(
      form,
      { deltas: [{ content: 'Hi' }], usage: counts },
      {
        text: 'Hi',
        usage: { inputTokens: 100, outputTokens: 50, reasoningTokens: 30, totalTokens: 150, cachedInputTokens: 60 },
      },
    ),
    sources: 'grounding is not told at this address',
    image: answer(
      form,
      {
        deltas: [{ content: 'See' }, { images: [{ type: 'image_url', image_url: { url: dataUrl } }] }],
        message: { content: 'See', images: [{ type: 'image_url', image_url: { url: dataUrl } }] },
        usage,
      },
      { text: 'See', files: [[dataUrl, 'image/png']], usage: told },
    ),
  },
  reasons: {
    stop: 'stop',
    length: 'length',
    MAX_TOKENS: 'length',
    SAFETY: 'content-filter',
    'content_filter: PROHIBITED_CONTENT': 'content-filter',
    RECITATION: 'content-filter',
    MALFORMED_FUNCTION_CALL: 'error',
    OTHER: 'other',
  },
  failures: {
    'refused request': {
      status: 400,
      body: [
        {
          error: {
            code: 400,
            message: 'Invalid JSON payload received. Unknown name "x"',
            status: 'INVALID_ARGUMENT',
            details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [] }],
          },
        },
      ],
      told: { kind: 'rejected', status: 400, providerMessage: 'Invalid JSON payload received. Unknown name "x"' },
    },
    'wrong key': {
      status: 400,
      body: [{ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }],
      told: { kind: 'rejected', status: 400, providerMessage: 'API key not valid.' },
    },
    'rate limit': {
      status: 429,
      body: [
        {
          error: {
            code: 429,
            message: 'You exceeded your current quota',
            status: 'RESOURCE_EXHAUSTED',
            details: [
              { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
              { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' },
            ],
          },
        },
      ],
      told: { kind: 'rate_limited', retryAfterMs: 34_500, providerMessage: 'You exceeded your current quota' },
    },
    'failure within the answer': {
      frames: [
        frame(form, { content: 'Hi' }),
        'data: [{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]\n\n',
      ],
      told: { kind: 'unavailable', status: 503, providerMessage: 'The model is overloaded.' },
    },
  },
  requests: {
    settings: settingsWithout('presence_penalty', 'frequency_penalty', 'seed'),
    roles: leadingSystemAlone,
    'tool turn': {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, tool_calls: [call('call_abc', 'stop', '{}', signed('sealed'))] },
        { role: 'tool', tool_call_id: 'call_abc', content: '{"done":true}' },
      ],
    },
  },
})
