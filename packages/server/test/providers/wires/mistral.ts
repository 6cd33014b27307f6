/**
 * Mistral: reasoning and texts as content parts, complete calls, unrequested usage in the last choice's frame, two
 * failure formats.
 */
import { expect } from 'vitest'
import {
  answer,
  bareCall,
  type ChatForm,
  call,
  chatService,
  frame,
  leadingSystemAlone,
  settingsWithout,
  wholeCalls,
} from './chat.ts'

const form: ChatForm = {
  envelope: {
    id: '0c1',
    object: 'chat.completion.chunk',
    created: 1_767_322_800,
    model: 'mistral-large-latest',
    p: 'abc',
  },
  lead: [{ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] }],
  end: (finish, usage) => [frame(form, { content: '' }, finish, { usage }), 'data: [DONE]\n\n'],
}
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_audio_seconds: null,
  num_cached_tokens: 60,
}
const thinking = (text: string) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] })
const asked = { type: 'text', text: 'See' }
const document = (document_url: string) => ({
  messages: [{ role: 'user', content: [asked, { type: 'document_url', document_url }] }],
})
const toolId: unknown = expect.stringMatching(/^[a-zA-Z0-9]{9}$/)

export const mistral = chatService(form, {
  provider: { kind: 'mistral' },
  model: 'mistral-large-latest',
  answers: {
    reasoning: answer(
      form,
      {
        deltas: [thinking('Let me'), thinking(' see'), { content: [{ type: 'text', text: 'Hi' }] }, { content: '!' }],
        message: { content: [...thinking('Let me see').content, { type: 'text', text: 'Hi!' }] },
      },
      { reasoning: 'Let me see', text: 'Hi!' },
    ),
    'several calls': wholeCalls(form, true),
    'call without arguments': bareCall(form, ''),
    'cached tokens': answer(
      form,
      { deltas: [{ content: 'Hi' }], usage },
      { text: 'Hi', usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60 } },
    ),
    sources: 'references name the caller’s own documents',
    image: 'chat completions make none',
  },
  reasons: { stop: 'stop', length: 'length', model_length: 'length', error: 'error' },
  failures: {
    'refused request': {
      status: 422,
      body: {
        object: 'error',
        message: {
          detail: [
            { type: 'extra_forbidden', loc: ['body', 'store'], msg: 'Extra inputs are not permitted', input: false },
            { type: 'missing', loc: ['body', 'model'], msg: 'Field required', input: {} },
          ],
        },
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
      told: {
        kind: 'rejected',
        status: 422,
        providerMessage: 'body.store: Extra inputs are not permitted; body.model: Field required',
      },
    },
    'wrong key': {
      status: 401,
      body: { detail: 'Unauthorized' },
      told: { kind: 'rejected', status: 401, providerMessage: 'Unauthorized' },
    },
    'rate limit': {
      status: 429,
      body: { object: 'error', message: 'Rate limit exceeded', type: 'rate_limited', param: null, code: '1300' },
      told: { kind: 'rate_limited', retryAfterMs: undefined, providerMessage: 'Rate limit exceeded' },
    },
    'failure within the answer': {
      frames: [
        frame(form, { content: 'Hi' }),
        { object: 'error', message: 'Service unavailable.', type: 'unreachable_backend', param: null, code: '1100' },
      ],
      told: { kind: 'unavailable', status: undefined, providerMessage: 'Service unavailable.' },
    },
  },
  requests: {
    'PDF by content': document('data:application/pdf;base64,JVBERi0='),
    'PDF by URL': document('https://docs.test/a.pdf'),
    'sound by content': {
      messages: [{ role: 'user', content: [asked, { type: 'input_audio', input_audio: 'UklGRg==' }] }],
    },
    settings: { ...settingsWithout('seed', 'stream_options'), random_seed: 7 },
    roles: leadingSystemAlone,
    'tool turn': {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, tool_calls: [{ ...call('', 'stop', '{}'), id: toolId }] },
        { role: 'tool', tool_call_id: toolId, content: '{"done":true}' },
      ],
    },
  },
})
