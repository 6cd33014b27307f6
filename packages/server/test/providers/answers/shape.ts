/** A case of an answer: what a service sends, and what the driver makes of it. */
import { Readable } from 'node:stream'
import type { AnswerReader } from '../../../src/adapters/providers/answer/frames.ts'
import { plainChunks, streamChunks } from '../../../src/adapters/providers/answer/stream.ts'
import { providerLimits } from '../../../src/adapters/providers/transport/transport.ts'
import type { FinishReason, ModelChunk, TakeChunks } from '../../../src/features/providers/model-driver.ts'
import { ProviderError } from '../../../src/features/providers/provider-error.ts'
import type { Usage } from '../../../src/features/providers/usage.ts'

export type Json = Record<string, unknown>

export interface Outcome {
  text?: string
  reasoning?: string
  calls?: [name: string, args: Json | string][]
  finishReason?: FinishReason
  usage?: Partial<Usage>
  /** The expected failure. Then the other fields describe what arrived before it. */
  error?: Partial<ProviderError>
}

export interface AnswerCase extends Outcome {
  name: string
  /** An object is sent as event data. A string and bytes are sent unchanged. */
  frames?: readonly (Json | string | Uint8Array)[]
  /** How the stream ends: with the body's end (the default), with a reset connection, or never. */
  end?: 'reset' | 'open'
  /** A plain answer, used in place of `frames`. */
  body?: Json | string
  /** The schema of a structured answer. */
  schema?: Json
  /** The prompt's settings. */
  settings?: Json
  /** Repeats the case, split in two at every byte. */
  isSplit?: true
}

const limits = { ...providerLimits, endMs: 20 }

/** @param frameText the bytes of one frame. */
export function streamOf({ frames = [] }: AnswerCase, frameText: (frame: Json) => string): Buffer {
  return Buffer.concat(
    frames.map((frame) =>
      frame instanceof Uint8Array ? frame : Buffer.from(typeof frame === 'string' ? frame : frameText(frame)),
    ),
  )
}

export async function outcomeOf(pieces: Buffer[], { end, body }: AnswerCase, reader: AnswerReader): Promise<Outcome> {
  const seen: ModelChunk[] = []
  const take: TakeChunks = (chunks) => void seen.push(...chunks)
  try {
    if (body === undefined) await streamChunks(bodyOf(pieces, end), reader, limits, take)
    else await take(plainChunks(typeof body === 'string' ? body : JSON.stringify(body), reader))
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return { ...outcome(seen), error }
  }
  if (seen.at(-1)?.type !== 'finish') throw new Error('The answer does not end with `finish`')
  return outcome(seen)
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
  const found: Outcome = { text: '', reasoning: '', calls: [] }
  for (const chunk of chunks) {
    if (chunk.type === 'text-delta') found.text += chunk.text
    if (chunk.type === 'reasoning-delta') found.reasoning += chunk.text
    if (chunk.type === 'tool-call') found.calls?.push([chunk.toolName, chunk.args ?? chunk.rawArgs])
    if (chunk.type === 'finish') Object.assign(found, { finishReason: chunk.finishReason, usage: chunk.usage })
  }
  return found
}
