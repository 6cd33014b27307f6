import type { RequestOptions, StreamControls } from '../options.ts'
import { requestOnly } from '../stream/run-start.ts'

type Given = RequestOptions & StreamControls & { mcpHeaders?: Record<string, Record<string, string>> }

/**
 * Returns the options for a chat with tool results. The round number is appended to the caller's idempotency key,
 * because each key is bound to one body.
 */
export function roundOptions(options: Given, round: number): RequestOptions {
  const { mcpHeaders, idempotencyKey } = options
  return {
    ...requestOnly(options),
    ...(mcpHeaders && { mcpHeaders }),
    ...(idempotencyKey !== undefined && { idempotencyKey: `${idempotencyKey}-tools-${round}` }),
  }
}
