/** A case of an answer: what a service sends, and what the driver makes of it. */
import { Readable } from 'node:stream'
import type { AnswerReader } from '../../../src/adapters/providers/answer/frames.ts'
import { readPlain, streamChunks } from '../../../src/adapters/providers/answer/stream.ts'
import { providerLimits } from '../../../src/adapters/providers/transport/transport.ts'
import type { FinishReason, ModelChunk, TakeChunks } from '../../../src/features/providers/model-driver.ts'
import { ProviderError } from '../../../src/features/providers/provider-error.ts'
import type { Usage } from '../../../src/features/providers/usage.ts'
import type { Json } from '../wires/shape.ts'

export type { Json }

export interface Outcome {
  text?: string
  reasoning?: string
  calls?: [name: string, args: Json | string][]
  finishReason?: FinishReason
  usage?: Partial<Usage>
  /** The expected failure. The only other field that counts is the text before it. */
  error?: Partial<ProviderError>
  /** Each chunk, in place of the fields above. */
  chunks?: readonly object[]
}

/** An object is sent as event data. A string and bytes are sent unchanged. */
export type Frame = Json | string | Uint8Array

export interface AnswerCase extends Outcome {
  /** A list is a stream of frames, and everything else is a plain answer. */
  sent: readonly Frame[] | Json | string
  /** How the stream ends: with the body's end (the default), with a reset connection, or never. */
  end?: 'reset' | 'open'
  /** The provider's kind. */
  kind?: string
  /** The schema of a structured answer. */
  schema?: Json
  /** The prompt's settings. */
  settings?: Json
  /** True if the request offers the model tools. */
  hasTools?: boolean
  /** Repeats the case, split in two at every byte. */
  isSplit?: true
}

/** The first number of a name is the kind of deviation. */
export type Cases = Record<string, AnswerCase>

/** A call of the tool `weather`, which most cases expect. */
export const rome: [string, Json] = ['weather', { city: 'Rome' }]
export const full = '{"city":"Rome"}'
/** The end mark of chat completions. */
export const done = 'data: [DONE]\n\n'
export const zurich = { args: { stadt: 'Zürich' }, rawArgs: '{"stadt":"Zürich"}' }
export const cut = { kind: 'malformed', message: "The provider's response was cut off" } as const
export const source = { type: 'source', payload: { sourceType: 'url', url: 'https://a.test', title: 'A' } }
export const tokens = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens })

export function fails(sent: AnswerCase['sent'], providerMessage: string, status?: number): AnswerCase {
  return { sent, error: { providerMessage, ...(status !== undefined && { status }) } }
}

/** A failure whose message is the sent text. */
export function echoed(sent: Json, ...more: Frame[]): AnswerCase {
  return fails([sent, ...more], JSON.stringify(sent))
}

/** Content that no stet message can represent ends the call with an error that names it. */
export function uncarried(name: string, contentType: string, frames: Frame[], plain: Json): Cases {
  const error = { kind: 'uncarried', contentType } as const
  return { [`${name}, streamed`]: { sent: frames, error }, [`${name}, plain`]: { sent: plain, error } }
}

/** The chunks of an answer of one text. */
export function oneText(text: string, finishReason = 'stop'): object[] {
  return [
    { type: 'text-delta', text },
    { type: 'finish', finishReason },
  ]
}

export const eventOf = (frame: Json) => `data: ${JSON.stringify(frame)}\n\n`

export function bytesOf(frames: readonly Frame[]): Buffer {
  const textOf = (frame: Json | string) => (typeof frame === 'string' ? frame : eventOf(frame))
  return Buffer.concat(frames.map((frame) => (frame instanceof Uint8Array ? frame : Buffer.from(textOf(frame)))))
}

export function bytesSent({ sent }: AnswerCase): Buffer {
  if (Array.isArray(sent)) return bytesOf(sent)
  return Buffer.from(typeof sent === 'string' ? sent : JSON.stringify(sent))
}

const limits = { ...providerLimits, endMs: 20 }

/** @param pieces the reads of the socket. Without them, the answer is read as a run without streaming reads JSON. */
export async function outcomeOf(one: AnswerCase, reader: AnswerReader, pieces?: Buffer[]): Promise<Outcome> {
  const chunks: ModelChunk[] = []
  const take: TakeChunks = (batch) => void chunks.push(...batch)
  try {
    if (pieces) await streamChunks(bodyOf(pieces, one.end), reader, limits, take)
    else readPlain(bytesSent(one).toString(), reader, limits, chunks)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return { ...outcome(chunks), error }
  }
  if (chunks.at(-1)?.type !== 'finish') throw new Error('The answer does not end with `finish`')
  return outcome(chunks)
}

function bodyOf(pieces: Buffer[], end: AnswerCase['end']): Readable {
  const waiting = [...pieces]
  return new Readable({
    read() {
      const piece = waiting.shift()
      if (piece) this.push(piece)
      else if (end === undefined) this.push(null)
      else if (end === 'reset') this.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
    },
  })
}

function outcome(chunks: readonly ModelChunk[]): Outcome {
  const found: Outcome = { text: '', reasoning: '', calls: [], chunks }
  for (const chunk of chunks) {
    if (chunk.type === 'text-delta') found.text += chunk.text
    if (chunk.type === 'reasoning-delta') found.reasoning += chunk.text
    if (chunk.type === 'tool-call') found.calls?.push([chunk.toolName, chunk.args ?? chunk.rawArgs])
    if (chunk.type === 'finish') Object.assign(found, { finishReason: chunk.finishReason, usage: chunk.usage })
  }
  return found
}

export function expected({ text, reasoning = '', calls = [], finishReason, usage, error, chunks }: Outcome): object {
  if (chunks) return { chunks }
  if (error) return { error, ...(text !== undefined && { text }) }
  return { text: text ?? '', reasoning, calls, finishReason: finishReason ?? 'stop', ...(usage && { usage }) }
}
