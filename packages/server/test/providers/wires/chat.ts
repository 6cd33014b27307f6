/** The common part of services with chat completions. Each service adds its differences. */
import type { AnswerWire, Json, KindWire, Told } from './shape.ts'
import { closedSchema, pixel, proxyFailure } from './shape.ts'

export interface ChatForm {
  /** Keys on every frame and on plain answers. */
  envelope: Json
  lead?: readonly (Json | string)[]
  /** Keys next to the delta of each choice. */
  choice?: Json
  end(finish: string, usage: Json): readonly (Json | string)[]
}

export const usage = { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 }
export const told = { inputTokens: 12, outputTokens: 8, totalTokens: 20 }

export function frame(
  { envelope, choice }: ChatForm,
  delta: Json,
  finish: string | null = null,
  more: Json = {},
): Json {
  return { ...envelope, choices: [{ index: 0, delta, finish_reason: finish, ...choice }], ...more }
}

export interface Said {
  deltas: readonly Json[]
  /** The complete message. Default: the joined deltas. */
  message?: Json
  finish?: string
  usage?: Json
  /** Further top-level fields of the non-streamed response. */
  plain?: Json
}

export function answer(form: ChatForm, said: Said, expected: Omit<Told, 'finishReason'> & Partial<Told>): AnswerWire {
  const { deltas, finish = 'stop', usage: counts = usage } = said
  const message = { role: 'assistant', ...(said.message ?? joined(deltas)) }
  return {
    frames: [...(form.lead ?? []), ...deltas.map((delta) => frame(form, delta)), ...form.end(finish, counts)],
    plain: { ...form.envelope, choices: [{ index: 0, message, finish_reason: finish }], usage: counts, ...said.plain },
    told: { finishReason: 'stop', usage: counts === usage ? told : {}, ...expected },
  }
}

function joined(deltas: readonly Json[]): Json {
  return { content: deltas.map(({ content }) => (typeof content === 'string' ? content : '')).join('') }
}

export const call = (id: string, name: string, json: string, more: Json = {}) => ({
  id,
  type: 'function',
  function: { name, arguments: json },
  ...more,
})
export const twoCalls: Told = {
  calls: [
    ['weather', { city: 'Bern' }],
    ['stop', { now: true }],
  ],
  finishReason: 'tool-calls',
}
export const bern: Told = { calls: [['weather', { city: 'Bern' }]], finishReason: 'tool-calls' }
export const bare: Told = { calls: [['stop', {}]], finishReason: 'tool-calls' }

function splitCall(form: ChatForm): AnswerWire {
  const deltas = [
    { tool_calls: [{ index: 0, ...call('c1', 'weather', '') }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '"Bern"}' } }] },
  ]
  const message = { content: null, tool_calls: [call('c1', 'weather', '{"city":"Bern"}')] }
  return answer(form, { deltas, message, finish: 'tool_calls' }, bern)
}

export function wholeCalls(form: ChatForm, inOneFrame: boolean): AnswerWire {
  const calls = [call('c1', 'weather', '{"city":"Bern"}'), call('c2', 'stop', '{"now":true}')]
  const numbered = calls.map((one, index) => ({ index, ...one }))
  const deltas = inOneFrame ? [{ tool_calls: numbered }] : numbered.map((one) => ({ tool_calls: [one] }))
  return answer(form, { deltas, message: { content: null, tool_calls: calls }, finish: 'tool_calls' }, twoCalls)
}

export function bareCall(form: ChatForm, json: string): AnswerWire {
  const deltas = [{ tool_calls: [{ index: 0, ...call('c1', 'stop', json) }] }]
  const message = { content: null, tool_calls: [call('c1', 'stop', json)] }
  return answer(form, { deltas, message, finish: 'tool_calls' }, bare)
}

const dataUrl = `data:image/png;base64,${pixel}`
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const asked = { type: 'text', text: 'See' }
const tool = { type: 'function', function: { name: 'stop', description: 'Stops.', parameters: { type: 'object' } } }

const chatSettings: Json = {
  temperature: 0.5,
  top_p: 0.9,
  presence_penalty: 0.1,
  frequency_penalty: 0.2,
  seed: 7,
  stop: ['x'],
  reasoning_effort: 'low',
  max_tokens: 5,
  stream: true,
  stream_options: { include_usage: true },
}

const chatRequests: KindWire['requests'] = {
  'image by URL': { messages: [{ role: 'user', content: [asked, image('https://pics.test/a.png')] }] },
  'image by content': { messages: [{ role: 'user', content: [asked, image(dataUrl)] }] },
  'PDF by content': {
    messages: [
      {
        role: 'user',
        content: [
          asked,
          { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' } },
        ],
      },
    ],
  },
  'PDF by URL': new Error('takes no file parts by URL'),
  'sound by content': {
    messages: [
      { role: 'user', content: [asked, { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }] },
    ],
  },
  'structured answer': {
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: closedSchema, strict: true } },
  },
  tools: { tools: [tool], tool_choice: 'required', parallel_tool_calls: false },
  settings: chatSettings,
  roles: {
    messages: [
      { role: 'system', content: 'd' },
      { role: 'user', content: 'u' },
      { role: 'assistant', content: 'a' },
      { role: 'system', content: 's' },
    ],
  },
  'several texts': {
    messages: [
      { role: 'system', content: 'a\nb' },
      { role: 'user', content: 'c\nd' },
    ],
  },
  'tool turn': {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call('call_abc', 'stop', '{}')] },
      { role: 'tool', tool_call_id: 'call_abc', content: '{"done":true}' },
    ],
  },
  'generated image': {
    messages: [
      { role: 'user', content: 'Draw' },
      { role: 'assistant', content: 'Here.' },
      { role: 'user', content: [image(dataUrl)] },
      { role: 'user', content: 'Bluer' },
    ],
  },
}

export const openaiBody = (message: string, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param: null, code },
})

export function settingsWithout(...keys: string[]): Json {
  return Object.fromEntries(Object.entries(chatSettings).filter(([key]) => !keys.includes(key)))
}

/** Only the first message may be a system message. Later ones become user messages. */
export const leadingSystemAlone: Json = {
  messages: [
    { role: 'system', content: 'd' },
    { role: 'user', content: 'u' },
    { role: 'assistant', content: 'a' },
    { role: 'user', content: 's' },
  ],
}

const refused = new Error('takes no file parts in any message')
export const filesRefused = { 'PDF by content': refused, 'PDF by URL': refused, 'sound by content': refused }

type Shared = 'text' | 'split call' | 'several calls' | 'call without arguments'
type Differing<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>

interface ChatDifferences extends Pick<KindWire, 'provider' | 'model' | 'reasons'>, Partial<Pick<KindWire, 'path'>> {
  answers: Differing<KindWire['answers'], Shared>
  failures: Differing<KindWire['failures'], 'proxy'>
  requests?: Partial<KindWire['requests']>
}

export function chatService(form: ChatForm, own: ChatDifferences): KindWire {
  return {
    path: '/chat/completions',
    ending: (reason) => form.end(reason, {}),
    ...own,
    answers: {
      text: greeting(form),
      'split call': splitCall(form),
      'several calls': wholeCalls(form, false),
      'call without arguments': bareCall(form, '{}'),
      ...own.answers,
    },
    failures: { proxy: proxyFailure, ...own.failures },
    requests: { ...chatRequests, ...own.requests },
  }
}

/** The role is sent once: in the first frame, or with the first text. */
function greeting(form: ChatForm): AnswerWire {
  const role = JSON.stringify(form.lead ?? []).includes('"role"') ? {} : { role: 'assistant' }
  return answer(form, { deltas: [{ ...role, content: 'Grüß' }, { content: ' dich' }] }, { text: 'Grüß dich' })
}
