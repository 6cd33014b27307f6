/** What the server and a template child say to each other: one JSON object per line, one call at a time. */
type ChildOperation = 'scan' | 'step'

export interface ChildRequest {
  id: number
  operation: ChildOperation
  source: { path: string; content: string; documents: Readonly<Record<string, string>> }
  step?: { parameters: Record<string, unknown>; now: string; state?: unknown; answer?: unknown[] }
}

export type ChildReply =
  | { id: number; result: unknown }
  | { id: number; issue: Record<string, unknown> }
  | { id: number; failure: string }

/** A reply larger than this is refused by the child, and by the server should the child send it all the same. */
export const MAX_REPLY_BYTES = 4 * 1024 * 1024
/** The child says this when it is ready for calls. */
export const READY = 'ready'

export function encodeLine(message: unknown): string {
  return `${JSON.stringify(message)}\n`
}

/** Splits a text stream at line ends; keeps what has no end yet. */
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
