/** The server and a worker process exchange one JSON object per line, one call at a time. */
import type { PromptSource } from '@stet/template'

export type WorkerCall =
  | { operation: 'scan'; source: PromptSource }
  | { operation: 'step'; source: PromptSource; step: WorkerStep }
  /** Checks a model's answer against the schema of its prompt. */
  | { operation: 'answer'; schema: Record<string, unknown>; value: unknown }

interface WorkerStep {
  parameters: Record<string, unknown>
  now: string
  state?: unknown
  answer?: unknown[]
}

export type WorkerRequest = WorkerCall & { id: number }

export type WorkerReply =
  | { id: number; result: unknown }
  | { id: number; issue: Record<string, unknown> }
  | { id: number; failure: string }

/** Maximum reply size in a worker process. The server kills a worker process whose line exceeds twice this size. */
export const MAX_REPLY_BYTES = 4 * 1024 * 1024

export function encodeLine(message: unknown): string {
  return `${JSON.stringify(message)}\n`
}

export function lineReader(onLine: (line: string) => void): (chunk: string) => void {
  let pieces: string[] = []
  return (chunk) => {
    let from = 0
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
      pieces.push(chunk.slice(from, end))
      const line = pieces.join('')
      pieces = []
      from = end + 1
      onLine(line)
    }
    if (from < chunk.length) pieces.push(chunk.slice(from))
  }
}

const SUSPECT = /\\u(?:0000|d[89a-f])/
const ESCAPE = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g

/**
 * Replaces NUL and lone surrogates with U+FFFD, because databases cannot store them. A prompt can create both, for
 * example with `"😀".charAt(0)`. `JSON.stringify` writes both as the escapes in `SUSPECT`.
 */
export function wellFormedJson(json: string): string {
  if (!SUSPECT.test(json)) return json
  return json.replace(ESCAPE, (found) => (SUSPECT.test(found) ? '\uFFFD' : found))
}
