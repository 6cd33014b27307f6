import type { contract } from '@stet/contract'
import { answerToolCall } from '../../features/conversations/continue-conversation.ts'
import { callerOf } from '../auth/request-context.ts'
import type { HttpDeps } from '../http-deps.ts'
import type { Routes } from '../mount.ts'

export function toolRoutes(deps: HttpDeps): Routes<typeof contract.tools> {
  return {
    result: async ({ body, res }) => {
      const { toolCallId, result = null, isError } = body
      await answerToolCall(deps, { caller: callerOf(res), toolCallId, result, isError })
      return { status: 200, body: { success: true } }
    },
  }
}
