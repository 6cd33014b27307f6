/** The built-in demo provider uses no network. The same request always produces the same chunks. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Message, MessagePart } from '@stet/contract/vocabulary'
import type {
  FinishReason,
  ModelChunk,
  ModelDriver,
  ModelRequest,
  ToolDefinition,
} from '../../../features/providers/model-driver.ts'
import { usageOf } from '../../../features/providers/usage.ts'
import { asObject } from '../json.ts'
import { tokenLimit, toolChoiceOf } from '../request/body.ts'
import { resultText } from '../request/messages.ts'
import { instanceOf } from './instance.ts'

const introduction = "I'm the demo provider, not a real model."
const maxEcho = 400

export function demoDriver(): ModelDriver {
  return {
    async call(request, take) {
      const { signal, stream } = request
      signal.throwIfAborted()
      const chunks = demoChunks(request)
      const batchSize = stream ? 2 : chunks.length
      for (let from = 0; from < chunks.length; from += batchSize) {
        await take(chunks.slice(from, from + batchSize))
        if (stream) await delay(4)
        signal.throwIfAborted()
      }
    },
    scrubbed: (text) => text,
  }
}

function demoChunks(request: ModelRequest): ModelChunk[] {
  const { messages, schema, settings } = request
  const tool = toolToCall(request)
  if (tool) return callChunks(tool, messages)
  if (schema) return textChunks(wordsOf(JSON.stringify(instanceOf(schema))), 'stop', messages)
  const words = wordsOf(answerText(messages))
  // The demo provider counts one token per word.
  const limit = tokenLimit(settings) ?? words.length
  return textChunks(words.slice(0, limit), words.length > limit ? 'length' : 'stop', messages)
}

function callChunks({ name: toolName, parameters }: ToolDefinition, messages: readonly Message[]): ModelChunk[] {
  const args = asObject(instanceOf(parameters))
  const rawArgs = JSON.stringify(args)
  const id = `demo-${partsOf(messages).filter(({ type }) => type === 'tool-call').length + 1}`
  return [
    { type: 'tool-input-start', id, toolName },
    { type: 'tool-input-delta', id, delta: rawArgs },
    { type: 'tool-call', id, toolName, args, rawArgs },
    { type: 'finish', finishReason: 'tool-calls', usage: usageFor(messages, wordsOf(rawArgs).length) },
  ]
}

function textChunks(words: readonly string[], finishReason: FinishReason, messages: readonly Message[]): ModelChunk[] {
  const usage = usageFor(messages, words.length)
  return [...words.map((text) => ({ type: 'text-delta' as const, text })), { type: 'finish', finishReason, usage }]
}

function usageFor(messages: readonly Message[], output: number) {
  return usageOf({ input: wordsOf(textOfMessages(messages)).length, output })
}

/** Each word includes the white space before the word. */
function wordsOf(text: string): string[] {
  return text.match(/(?<!\s)\s*\S+/g) ?? []
}

function partsOf(messages: readonly Message[]): MessagePart[] {
  return messages.flatMap(({ content }) => content)
}

function textOfMessages(messages: readonly Message[]): string {
  return messages.map(textOfMessage).join('\n')
}

function textOfMessage({ content }: Message): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

/**
 * Returns the tool to call, if `toolChoice` requires one or a message contains a tool's name. Returns undefined for
 * the choice `none`, and after a tool result or an assistant message.
 */
function toolToCall({ tools, messages, settings }: ModelRequest): ToolDefinition | undefined {
  const last = messages.at(-1)?.role
  const choice = toolChoiceOf(settings)
  if (last === 'tool' || last === 'assistant' || choice === 'none') return undefined
  if (choice === 'required') return tools[0]
  if (typeof choice === 'object') return tools.find(({ name }) => name === choice.name)
  const text = textOfMessages(messages)
  return tools.find(({ name }) => text.includes(name))
}

function answerText(messages: readonly Message[]): string {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `${introduction} ${last.content.map(describeResult).join(' ')}`
  const asked = messages.findLast(({ role }) => role === 'user') ?? last
  const words = wordsOf(textOfMessages(messages)).length
  const size = `Your prompt has ${counted(messages.length, 'message')} and ${counted(words, 'word')}${mediaIn(messages)}.`
  const echo = asked ? cut(textOfMessage(asked).trim()) : ''
  return echo === '' ? `${introduction} ${size}` : `${introduction} ${size} Here is what you asked:\n\n${echo}`
}

function describeResult(part: MessagePart): string {
  if (part.type !== 'tool-result') return ''
  return `The tool ${part.toolName} ${part.isError === true ? 'failed' : 'answered'}: ${cut(resultText(part.result))}`
}

function mediaIn(messages: readonly Message[]): string {
  const types = partsOf(messages).map(({ type }) => type)
  return ['image', 'file']
    .map((noun) => ({ noun, count: types.filter((type) => type === noun).length }))
    .map(({ noun, count }) => (count === 0 ? '' : `, ${counted(count, noun)}`))
    .join('')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function cut(text: string): string {
  return text.length <= maxEcho ? text : `${[...text].slice(0, maxEcho).join('')}…`
}
