import { z } from 'zod'
import { absent, utf8Bytes } from '../common.ts'
import { withErrors } from '../errors.ts'
import { LIMITS } from '../vocabulary/limits.ts'

const isSmall = (value: unknown): boolean => utf8Bytes(JSON.stringify(value) ?? '') <= LIMITS.toolPayloadBytes

export const ToolResultBody = absent({
  toolCallId: z.string().min(1),
  result: z
    .unknown()
    .refine(isSmall, { error: `must have at most ${LIMITS.toolPayloadBytes} bytes as JSON` })
    .optional()
    .meta({ description: 'Any JSON value, which the model receives unchanged. Default: `null`.' }),
  isError: z.boolean().default(false).meta({ description: 'The tool failed, and `result` explains why.' }),
}).meta({
  id: 'ToolResultBody',
  description: 'The result of a tool call that a run waits for.',
  example: "{ toolCallId: 'call_9f', result: { sky: 'blue' } }",
})

export const ToolResultTaken = z.object({ success: z.literal(true) }).meta({ id: 'ToolResultTaken' })

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
