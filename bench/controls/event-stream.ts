/**
 * Answers POST with the events of a long run, without pauses. Answers GET with a prompt and the number of GETs so far.
 */
import { createServer } from 'node:http'
import { listen } from './listen.ts'

const deltas = Number(process.env['EVENTS'] ?? 10_000)
const uuid = '3f0c5a3e-6f0e-4a53-9d3c-0a1b2c3d4e5f'
const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2, inputTokens: 1, outputTokens: 1 }
const chain = (type: string, extra: object = {}) => ({ type, timestamp: 1, uuid, messages: [], source: {}, ...extra })
const response = { streamType: 'text', text: 'words', usage, toolCalls: [], cost: 0, finishReason: 'stop' }

const events: [string, object][] = [
  ['latitude-event', chain('chain-started')],
  ['latitude-event', chain('step-started')],
  ['latitude-event', chain('provider-started', { config: {} })],
  ...Array.from({ length: deltas }, (_, at): [string, object] => [
    'provider-event',
    { type: 'text-delta', id: 'txt-0', textDelta: `word${at} ` },
  ]),
  ['latitude-event', chain('provider-completed', { response, tokenUsage: usage, finishReason: 'stop' })],
  [
    'latitude-event',
    chain('chain-completed', { response, toolCalls: [], toolRequests: [], tokenUsage: usage, cost: 0 }),
  ],
]
const body = Buffer.from(
  events.map(([event, data], at) => `event: ${event}\ndata: ${JSON.stringify(data)}\nid: ${at + 1}\n\n`).join(''),
)
let gets = 0

listen(
  createServer((request, answer) => {
    if (request.method === 'GET') {
      gets += 1
      answer.setHeader('content-type', 'application/json')
      answer.end(JSON.stringify({ content: 'Hello', gets }))
      return
    }
    answer.writeHead(200, { 'content-type': 'text/event-stream', 'x-conversation-uuid': uuid })
    answer.end(body)
  }),
)
