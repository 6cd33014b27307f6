/** The built-in demo provider: deterministic, no network, streams word by word, follows schemas and tools. */
import { setTimeout as delay } from 'node:timers/promises'
import type {
  ModelChunk,
  ModelDriver,
  ModelRequest,
  TakeChunks,
  ToolDefinition,
} from '../../../features/providers/model-driver.ts'
import { usageOf } from '../../../features/providers/usage.ts'
import type { Message, MessagePart } from '../../../features/templates/message.ts'
import { instanceOf } from './instance.ts'

const wordsPerBatch = 2
const pauseMs = 4

export function demoDriver(): ModelDriver {
  return { call }
}

async function call(request: ModelRequest, take: TakeChunks): Promise<void> {
  const { signal, stream } = request
  signal.throwIfAborted()
  const answer = demoAnswer(request)
  const batches = batchesOf(answer)
  const finish = finishOf(answer, request)
  if (!stream) {
    await take([...batches.flat(), finish])
    return
  }
  for (const batch of batches) {
    await take(batch)
    await delay(pauseMs)
    signal.throwIfAborted()
  }
  await take([finish])
}

function batchesOf(answer: DemoAnswer): ModelChunk[][] {
  if (answer.type === 'call') {
    const { id, toolName, args } = answer
    const rawArgs = JSON.stringify(args)
    return [
      [{ type: 'tool-input-start', id, toolName }],
      [
        { type: 'tool-input-delta', id, delta: rawArgs },
        { type: 'tool-call', id, toolName, args, rawArgs },
      ],
    ]
  }
  const words = wordsOf(answer.text)
  return Array.from({ length: Math.ceil(words.length / wordsPerBatch) }, (_, index) =>
    words
      .slice(index * wordsPerBatch, (index + 1) * wordsPerBatch)
      .map((text): ModelChunk => ({ type: 'text-delta', text })),
  )
}

function finishOf(answer: DemoAnswer, request: ModelRequest): ModelChunk {
  const said = answer.type === 'text' ? answer.text : JSON.stringify(answer.args)
  const usage = usageOf({ input: countWords(textOfMessages(request.messages)), output: countWords(said) })
  const finishReason = answer.type === 'call' ? 'tool-calls' : answer.isCut ? 'length' : 'stop'
  return { type: 'finish', finishReason, usage }
}

export type DemoAnswer =
  | { type: 'text'; text: string; isCut: boolean }
  | { type: 'call'; id: string; toolName: string; args: Record<string, unknown> }

const introduction = "I'm the demo provider, not a real model."
const longestEcho = 400

function demoAnswer(request: ModelRequest): DemoAnswer {
  const { messages, schema } = request
  const call = toolToCall(request)
  if (call) {
    const args = instanceOf(call.parameters)
    const isObject = typeof args === 'object' && args !== null && !Array.isArray(args)
    const number = messages.flatMap(({ content }) => content).filter(({ type }) => type === 'tool-call').length + 1
    return { type: 'call', id: `demo-${number}`, toolName: call.name, args: isObject ? { ...args } : {} }
  }
  if (schema) return { type: 'text', text: JSON.stringify(instanceOf(schema)), isCut: false }
  return cutToLimit(textAnswer(messages), request.settings)
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0
}

function wordsOf(text: string): string[] {
  return text.match(/(?<!\s)\s*\S+/g) ?? []
}

function textOfMessages(messages: readonly Message[]): string {
  return messages.map(textOfMessage).join('\n')
}

/** Calls a tool after a user message if the configuration requires a call or the prompt names the tool. */
function toolToCall({ tools, messages, settings }: ModelRequest): ToolDefinition | undefined {
  const [first] = tools
  if (!first || messages.at(-1)?.role === 'tool' || messages.at(-1)?.role === 'assistant') return undefined
  const choice = settings['toolChoice'] ?? settings['tool_choice']
  if (choice === 'none') return undefined
  if (choice === 'required') return first
  const named = namedIn(choice)
  if (named !== undefined) return tools.find(({ name }) => name === named)
  const text = textOfMessages(messages)
  return tools.find(({ name }) => text.includes(name))
}

function namedIn(choice: unknown): string | undefined {
  if (typeof choice !== 'object' || choice === null || !('function' in choice)) return undefined
  const { function: called } = choice
  const name = typeof called === 'object' && called !== null && 'name' in called ? called.name : undefined
  return typeof name === 'string' ? name : undefined
}

function textAnswer(messages: readonly Message[]): string {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `${introduction} ${last.content.map(describeResult).join(' ')}`
  const asked = messages.findLast(({ role }) => role === 'user') ?? last
  const words = countWords(textOfMessages(messages))
  const size = `Your prompt has ${counted(messages.length, 'message')} and ${counted(words, 'word')}${mediaIn(messages)}.`
  const echo = asked ? cut(textOfMessage(asked).trim()) : ''
  return echo === '' ? `${introduction} ${size}` : `${introduction} ${size} Here is what you asked:\n\n${echo}`
}

function describeResult(part: MessagePart): string {
  if (part.type !== 'tool-result') return ''
  const text = typeof part.result === 'string' ? part.result : (JSON.stringify(part.result) ?? 'nothing')
  return `The tool ${part.toolName} ${part.isError === true ? 'failed' : 'answered'}: ${cut(text)}`
}

function mediaIn(messages: readonly Message[]): string {
  const parts = messages.flatMap(({ content }) => content)
  const images = parts.filter(({ type }) => type === 'image').length
  const files = parts.filter(({ type }) => type === 'file').length
  return `${images > 0 ? `, ${counted(images, 'image')}` : ''}${files > 0 ? `, ${counted(files, 'file')}` : ''}`
}

function textOfMessage({ content }: Message): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function cut(text: string): string {
  return text.length <= longestEcho ? text : `${[...text].slice(0, longestEcho).join('')}…`
}

/** The demo provider counts one token per word. */
function cutToLimit(text: string, settings: Record<string, unknown>): DemoAnswer {
  const limit = settings['maxOutputTokens'] ?? settings['maxTokens']
  if (typeof limit !== 'number' || countWords(text) <= limit) return { type: 'text', text, isCut: false }
  return { type: 'text', text: wordsOf(text).slice(0, limit).join(''), isCut: true }
}
