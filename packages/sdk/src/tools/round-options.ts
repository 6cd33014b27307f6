import type { RequestOptions, StreamControls } from '../options.ts'
import { requestOnly } from '../stream/run-start.ts'

type Given = RequestOptions & StreamControls & { mcpHeaders?: Record<string, Record<string, string>> }

/**
 * The options of a chat that answers tools. A caller's own idempotency key gets a number, because one key belongs to
 * one body.
 */
export function roundOptions(options: Given, round: number): RequestOptions {
  const { mcpHeaders, idempotencyKey } = options
  return {
    ...requestOnly(options),
    ...(mcpHeaders && { mcpHeaders }),
    ...(idempotencyKey !== undefined && { idempotencyKey: `${idempotencyKey}-tools-${round}` }),
  }
}
