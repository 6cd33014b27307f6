import type { contract } from '@stet/contract'
import type { Response } from 'express'
import { attachResult, attachStream, joinRun } from '../../features/conversations/attach-conversation.ts'
import { continueConversation } from '../../features/conversations/continue-conversation.ts'
import { stopConversation } from '../../features/conversations/stop-conversation.ts'
import type { ClaimedRun } from '../../features/deps.ts'
import { queueRun } from '../../features/runs/queue/queue-run.ts'
import { startRun } from '../../features/runs/start-run.ts'
import type { HttpDeps } from '../http-deps.ts'
import { lastEventId } from '../input/last-event-id.ts'
import { versionAddress } from '../input/version-address.ts'
import type { UnreadBudget } from '../limits/unread-budget.ts'
import type { Routes } from '../mount.ts'
import { callerOf, contextOf, whileOpen } from '../request/request-context.ts'
import { createStreamLimit } from '../request/stream-limit.ts'
import { sizedBody } from '../response/large-body.ts'
import { runAnswers } from '../response/run-answer.ts'
import { startedOnce } from '../response/started-once.ts'
import { attachResultBody } from '../wire/attach-result.ts'

type Mode = 'json' | 'stream'

export function runRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.runs> {
  const answers = runAnswers(deps, { streams: createStreamLimit(deps.settings.maxStreamsPerKey), unread })
  const joining = (res: Response, mode: Mode) => (run: ClaimedRun) =>
    joinRun(deps, { caller: callerOf(res), ...run, mode }, whileOpen(res))
  return {
    run: async ({ params, body, req, res }) => {
      const { stream, background, messages = [], tools = [], userMessage, customIdentifier } = body
      // Read when the run starts: a refused `Idempotency-Key` comes before an unknown project.
      const input = () => ({
        ...ofRequest(res),
        ...versionAddress(params),
        ...{ path: body.path, parameters: body.parameters, messages, tools },
        ...(userMessage === undefined ? {} : { userMessage }),
        ...(customIdentifier === undefined ? {} : { customIdentifier }),
      })
      if (!background) {
        const start = (mode: Mode) =>
          startedOnce(deps, {
            req,
            res,
            start: (own) => startRun(deps, { ...input(), ...own, mode }),
            join: joining(res, mode),
          })
        return { status: 200, body: await answers.started(res, stream, start) }
      }
      const queue = () =>
        startedOnce(deps, {
          req,
          res,
          start: (own) => queueRun(deps, { ...input(), ...own }),
          join: async (run) => run,
        })
      if (stream && contextOf(res).client.backgroundStreams) {
        return {
          status: 200,
          body: await answers.started(res, true, async () => joining(res, 'stream')(await queue())),
        }
      }
      const { conversationUuid } = await queue()
      res.setHeader('X-Conversation-Uuid', conversationUuid)
      return { status: 200, body: { uuid: conversationUuid } }
    },
    chat: async ({ params, body, req, res }) => {
      const { stream, messages, tools = [] } = body
      const input = {
        caller: callerOf(res),
        conversationUuid: params.conversationUuid,
        messages,
        tools,
        declaredSdk: contextOf(res).client.declared,
      }
      const start = (mode: Mode) =>
        startedOnce(deps, {
          req,
          res,
          start: (own) => continueConversation(deps, { ...input, ...own, mode }),
          join: joining(res, mode),
        })
      return { status: 200, body: await answers.started(res, stream, start) }
    },
    attach: async ({ params, body, req, res }) => {
      const address = { caller: callerOf(res), conversationUuid: params.conversationUuid }
      if (body.stream) {
        const afterId = lastEventId(req.get('last-event-id'))
        return { status: 200, body: await answers.stream(res, () => attachStream(deps, { ...address, afterId })) }
      }
      const result = await attachResult(deps, address, answers.whileOpen(res))
      res.setHeader('X-Conversation-Uuid', result.uuid)
      return { status: 200, body: sizedBody(unread, res, attachResultBody(result, contextOf(res).client.declared)) }
    },
    stop: async ({ params, res }) => {
      const address = { caller: callerOf(res), conversationUuid: params.conversationUuid }
      return { status: 200, body: await stopConversation(deps, address) }
    },
  }
}

function ofRequest(res: Response) {
  return {
    caller: callerOf(res),
    declaredSdk: contextOf(res).client.declared,
    warn: (warning: string) => void res.setHeader('X-Stet-Warning', warning),
    signal: whileOpen(res),
  }
}
