/** The built-in demo provider: no network, deterministic, streams word by word, follows schemas and tools. */
import { setTimeout as delay } from 'node:timers/promises'
import type { ModelChunk, ModelDriver, ModelRequest, TakeChunks } from '../../../features/providers/model-driver.ts'
import { usageOf } from '../../../features/providers/usage.ts'
import { countWords, type DemoAnswer, demoAnswer, textOfMessages, wordsOf } from './answer.ts'

const wordsPerBatch = 2
const pauseMs = 4

export function demoDriver(): ModelDriver {
  return { call: (request) => (take) => call(request, take) }
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
