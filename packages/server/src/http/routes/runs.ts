import type { contract } from '@stet/contract'
import type { Request, Response } from 'express'
import type { z } from 'zod'
import { attachResult, attachStream, joinRun } from '../../features/conversations/attach-conversation.ts'
import { continueConversation } from '../../features/conversations/continue-conversation.ts'
import { stopConversation } from '../../features/conversations/stop-conversation.ts'
import { queueRun } from '../../features/runs/queue/queue-run.ts'
import { startRun } from '../../features/runs/start-run.ts'
import type { HttpDeps } from '../http-deps.ts'
import { idempotencyClaim } from '../input/idempotency-key.ts'
import { lastEventId } from '../input/last-event-id.ts'
import { versionAddress } from '../input/version-address.ts'
import type { UnreadBudget } from '../limits/unread-budget.ts'
import type { Routes } from '../mount.ts'
import { callerOf, contextOf, whileOpen } from '../request/request-context.ts'
import { createStreamLimit } from '../request/stream-limit.ts'
import { sizedBody } from '../response/large-body.ts'
import { runAnswer, startedOnce, streamAnswer } from '../response/run-answer.ts'
import { attachResultBody } from '../wire/attach-result.ts'

export function runRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.runs> {
  const streams = createStreamLimit(deps.settings.maxStreamsPerKey)
  /** The drain waits for a response that follows a run. @throws AppError RateLimitError for one stream too many. */
  const follow = (res: Response, isStream: boolean) => {
    deps.drain.followRun(res)
    if (isStream) streams.enter(callerOf(res).apiKeyId, res)
  }
  return {
    run: async ({ params, body, req, res }) => {
      const { background } = body
      const input = inputOf({ params, body, req, res })
      const { caller, claim } = input
      const isStream = body.stream && (!background || contextOf(res).client.backgroundStreams)
      const mode = isStream ? 'stream' : 'json'
      if (!background || isStream) follow(res, isStream)
      if (!background) {
        const run = await startedOnce(deps, res, {
          claim,
          start: () => startRun(deps, { ...input, mode }),
          join: (earlier) => joinRun(deps, { caller, ...earlier, mode }, whileOpen(res)),
        })
        return { status: 200, body: await runAnswer({ ...deps, unread }, res, run, mode) }
      }
      const queued = await startedOnce(deps, res, {
        claim,
        start: () => queueRun(deps, input),
        join: async (earlier) => earlier,
      })
      if (isStream) {
        const run = await joinRun(deps, { caller, ...queued, mode }, whileOpen(res))
        return { status: 200, body: streamAnswer(deps, res, run) }
      }
      res.setHeader('X-Conversation-Uuid', queued.conversationUuid)
      return { status: 200, body: { uuid: queued.conversationUuid } }
    },
    chat: async ({ params, body, req, res }) => {
      const { conversationUuid } = params
      const { stream, messages, tools = [] } = body
      const mode = stream ? 'stream' : 'json'
      const caller = callerOf(res)
      const declaredSdk = contextOf(res).client.declared
      const claim = idempotencyClaim(req, res)
      follow(res, stream)
      const run = await startedOnce(deps, res, {
        claim,
        start: () =>
          continueConversation(deps, { caller, conversationUuid, messages, tools, declaredSdk, claim, mode }),
        join: (earlier) => joinRun(deps, { caller, ...earlier, mode }, whileOpen(res)),
      })
      return { status: 200, body: await runAnswer({ ...deps, unread }, res, run, mode) }
    },
    attach: async ({ params, body, req, res }) => {
      const address = { caller: callerOf(res), conversationUuid: params.conversationUuid }
      follow(res, body.stream)
      if (body.stream) {
        const run = await attachStream(deps, { ...address, afterId: lastEventId(req.get('last-event-id')) })
        // A caller that disconnected before the head was written never reads.
        if (res.closed) run.release()
        return { status: 200, body: streamAnswer(deps, res, run) }
      }
      const result = await attachResult(deps, address, whileOpen(res))
      res.setHeader('X-Conversation-Uuid', result.uuid)
      return { status: 200, body: sizedBody(unread, res, attachResultBody(result, contextOf(res).client.declared)) }
    },
    stop: async ({ params, res }) => {
      const address = { caller: callerOf(res), conversationUuid: params.conversationUuid }
      return { status: 200, body: await stopConversation(deps, address) }
    },
  }
}

interface RunCall {
  params: { projectId: string; versionUuid: string }
  body: z.output<typeof contract.runs.run.body>
  req: Request
  res: Response
}

function inputOf({ params, body, req, res }: RunCall) {
  const { userMessage, customIdentifier } = body
  return {
    // Checked first: a bad `Idempotency-Key` is reported before an unknown project.
    claim: idempotencyClaim(req, res),
    caller: callerOf(res),
    ...versionAddress(params),
    path: body.path,
    parameters: body.parameters,
    messages: body.messages ?? [],
    tools: body.tools ?? [],
    ...(userMessage === undefined ? {} : { userMessage }),
    ...(customIdentifier === undefined ? {} : { customIdentifier }),
    declaredSdk: contextOf(res).client.declared,
    warn: (warning: string) => void res.setHeader('X-Stet-Warning', warning),
    signal: whileOpen(res),
  }
}
