import { z } from 'zod'
import { absent, type Held, LIMITS, utf8Bytes } from '../common.ts'
import { withErrors } from '../errors.ts'
import type * as vocabulary from '../vocabulary/index.ts'

const isSmall = (value: unknown): boolean => utf8Bytes(JSON.stringify(value) ?? '') <= LIMITS.toolPayloadBytes

export const ToolResultBody = absent({
  toolCallId: z.string().min(1),
  result: z
    .unknown()
    .refine(isSmall, { error: `must have at most ${LIMITS.toolPayloadBytes} bytes as JSON` })
    .optional()
    .meta({ description: 'Any JSON value. The model gets it with its type. Default: `null`.' }),
  isError: z.boolean().default(false).meta({ description: 'The tool failed, and `result` explains why.' }),
}).meta({ id: 'ToolResultBody' })
export type ToolResultBody = Held<z.input<typeof ToolResultBody>, vocabulary.ToolResultBody>

export const ToolResultTaken = z.object({ success: z.literal(true) }).meta({ id: 'ToolResultTaken' })
export type ToolResultTaken = Held<z.infer<typeof ToolResultTaken>, vocabulary.ToolResultTaken>

export const toolRoutes = {
  result: {
    summary: 'Answer a tool call',
    description:
      'Sends the result of a call that a run with `tools` waits for. The first result counts. Later results, and ' +
      'results for a call that no longer waits, are accepted and ignored.',
    body: ToolResultBody,
    responses: withErrors({ 200: ToolResultTaken }),
  },
}
