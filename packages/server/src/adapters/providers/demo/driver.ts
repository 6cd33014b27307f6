/** The built-in demo provider: deterministic, no network, streams word by word, follows schemas and tools. */
import { setTimeout as delay } from 'node:timers/promises'
import type {
  FinishReason,
  ModelChunk,
  ModelDriver,
  ModelRequest,
  ToolDefinition,
} from '../../../features/providers/model-driver.ts'
import { usageOf } from '../../../features/providers/usage.ts'
import type { Message, MessagePart } from '../../../features/templates/message.ts'
import { asObject } from '../json.ts'
import { resultText } from '../request/parts.ts'
import { tokenLimit } from '../request/settings.ts'
import { toolChoiceOf } from '../request/tools.ts'
import { instanceOf } from './instance.ts'

const wordsPerBatch = 2
const pauseMs = 4
const introduction = "I'm the demo provider, not a real model."
const longestEcho = 400

export function demoDriver(): ModelDriver {
  return {
    async call(request, take) {
      const { messages, signal, stream } = request
      signal.throwIfAborted()
      const { batches, said, finishReason } = demoAnswer(request)
      const usage = usageOf({ input: wordsOf(textOfMessages(messages)).length, output: wordsOf(said).length })
      const finish: ModelChunk = { type: 'finish', finishReason, usage }
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
    },
  }
}

interface DemoAnswer {
  batches: ModelChunk[][]
  said: string
  finishReason: FinishReason
}

function demoAnswer(request: ModelRequest): DemoAnswer {
  const { messages, schema, settings } = request
  const tool = toolToCall(request)
  if (tool) return callAnswer(tool, messages)
  if (schema) return textAnswer(wordsOf(JSON.stringify(instanceOf(schema))), 'stop')
  const words = wordsOf(answerText(messages))
  // The demo provider counts one token per word.
  const limit = tokenLimit(settings) ?? words.length
  return textAnswer(words.slice(0, limit), words.length > limit ? 'length' : 'stop')
}

function callAnswer({ name: toolName, parameters }: ToolDefinition, messages: readonly Message[]): DemoAnswer {
  const args = asObject(instanceOf(parameters))
  const rawArgs = JSON.stringify(args)
  const id = `demo-${partsOf(messages).filter(({ type }) => type === 'tool-call').length + 1}`
  const input: ModelChunk[] = [
    { type: 'tool-input-delta', id, delta: rawArgs },
    { type: 'tool-call', id, toolName, args, rawArgs },
  ]
  return { batches: [[{ type: 'tool-input-start', id, toolName }], input], said: rawArgs, finishReason: 'tool-calls' }
}

function textAnswer(words: readonly string[], finishReason: FinishReason): DemoAnswer {
  const chunks = words.map((text): ModelChunk => ({ type: 'text-delta', text }))
  const batches = Array.from({ length: Math.ceil(chunks.length / wordsPerBatch) }, (_, index) =>
    chunks.slice(index * wordsPerBatch, (index + 1) * wordsPerBatch),
  )
  return { batches, said: words.join(''), finishReason }
}

/** Each word has the white space before it. */
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

/** Calls a tool after a user message if the configuration requires a call or the prompt names the tool. */
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
  return text.length <= longestEcho ? text : `${[...text].slice(0, longestEcho).join('')}…`
}
