import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import { absent, LIMITS, type RouteMetadata, utf8Bytes } from './common.ts'
import { withErrors } from './errors.ts'

const c = initContract()

const isSmall = (value: unknown): boolean => utf8Bytes(JSON.stringify(value) ?? '') <= LIMITS.toolPayloadBytes

/**
 * The result of a tool call that a run waits for.
 *
 * @example
 * { "toolCallId": "call_9f…", "result": { "sky": "blue" } }
 */
export const ToolResultBody = absent({
  toolCallId: z.string().min(1),
  result: z
    .unknown()
    .refine(isSmall, { error: `must have at most ${LIMITS.toolPayloadBytes} bytes as JSON` })
    .optional()
    .meta({ description: 'Any JSON; the model gets it with its type. Absent: null.' }),
  isError: z.boolean().default(false).meta({ description: 'The tool failed; `result` says why.' }),
}).meta({ id: 'ToolResultBody' })
export type ToolResultBody = z.input<typeof ToolResultBody>

/** What a posted tool result is answered with. */
export const ToolResultTaken = z.object({ success: z.literal(true) }).meta({ id: 'ToolResultTaken' })
export type ToolResultTaken = z.infer<typeof ToolResultTaken>

export const tools = c.router({
  result: {
    method: 'POST',
    path: '/tools/results',
    summary: 'Answer a tool call',
    description:
      'The result of a call that a run with `tools` waits for. The first result counts; later ones, and those for a ' +
      'call that waits no more, are accepted and ignored.',
    body: ToolResultBody,
    responses: withErrors({ 200: ToolResultTaken }),
    metadata: {
      scope: 'run',
      rateLimited: true,
      idempotent: false,
      streams: false,
      errors: ['unissued-tool-call'],
    } as const satisfies RouteMetadata,
  },
})
