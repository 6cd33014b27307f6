import type { contract } from '@stet/contract'
import type { RunResult as RunResultBody } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type { Request, Response } from 'express'
import type { z } from 'zod'
import { attachResult, attachStream, joinRun } from '../../features/conversations/attach-conversation.ts'
import { answerToolCall, continueConversation } from '../../features/conversations/continue-conversation.ts'
import { stopConversation } from '../../features/conversations/stop-conversation.ts'
import type { Claim, ClaimedRun } from '../../features/idempotency/ports.ts'
import type { StartedRun } from '../../features/runs/events/watch-run.ts'
import { queueRun } from '../../features/runs/queue/queue-run.ts'
import { startRun } from '../../features/runs/start-run.ts'
import { clientBody, clientFrames } from '../../wire/legacy-clients.ts'
import { attachResultBody, runResultBody } from '../../wire/run-record.ts'
import { callerOf, contextOf, whileOpen } from '../auth/request-context.ts'
import { lastEventId, versionAddress } from '../body/address.ts'
import { followRun, resultOf, type StreamedRun, streamOf } from '../body/sse.ts'
import type { HttpDeps } from '../http-deps.ts'
import { idempotencyClaim, startedOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'
import type { StreamLimit } from '../rate-limit/rate-limit.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { type RawResponse, sizedBody } from '../raw-response.ts'

interface RunDeps extends HttpDeps {
  unread: UnreadBudget
  streams: StreamLimit
}

export function toolRoutes(deps: HttpDeps): Routes<typeof contract.tools> {
  return {
    result: async ({ body, res }) => {
      const { toolCallId, result = null, isError } = body
      await answerToolCall(deps, { caller: callerOf(res), toolCallId, result, isError })
      return { status: 200, body: { success: true } }
    },
  }
}

export function runRoutes(
  httpDeps: HttpDeps,
  unread: UnreadBudget,
  streams: StreamLimit,
): Routes<typeof contract.runs> {
  const deps: RunDeps = { ...httpDeps, unread, streams }
  return {
    run: async ({ params, body, req, res }) => {
      const input = runInput({ params, body, req, res })
      if (body.background) return { status: 200, body: await runInBackground(deps, res, input, body.stream) }
      const mode = body.stream ? 'stream' : 'json'
      const start = () => startRun(deps, { ...input, mode })
      return { status: 200, body: await runResponse(deps, res, { claim: input.claim, mode, start }) }
    },
    chat: async ({ params, body, req, res }) => {
      const { conversationUuid } = params
      const { messages, tools = [] } = body
      const mode = body.stream ? 'stream' : 'json'
      const caller = callerOf(res)
      const { legacyClient, span } = contextOf(res)
      const claim = idempotencyClaim(req, res)
      const start = () =>
        continueConversation(deps, {
          ...{ caller, conversationUuid, messages, tools, claim, mode, span },
          omitsToolsRequested: legacyClient !== undefined,
        })
      return { status: 200, body: await runResponse(deps, res, { claim, mode, start }) }
    },
    attach: async ({ params, body, req, res }) => {
      const { conversationUuid } = params
      const address = { caller: callerOf(res), conversationUuid, runUuid: body.runUuid }
      followRun(deps, res, body.stream)
      if (body.stream) {
        const run = await attachStream(deps, { ...address, afterId: lastEventId(req.get('last-event-id')) })
        return { status: 200, body: runStream(deps, res, run) }
      }
      const result = await attachResult(deps, address, whileOpen(res))
      res.setHeader('X-Conversation-Uuid', result.uuid)
      return {
        status: 200,
        body: sizedBody(unread, res, clientBody(contextOf(res).legacyClient, attachResultBody(result))),
      }
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

function runInput({ params, body, req, res }: RunCall) {
  const { userMessage, customIdentifier, tags, overrides } = body
  return {
    // Evaluated first, so that an invalid `Idempotency-Key` is reported before an unknown project.
    claim: idempotencyClaim(req, res),
    caller: callerOf(res),
    ...versionAddress(params),
    path: body.path,
    parameters: body.parameters,
    messages: body.messages ?? [],
    tools: body.tools ?? [],
    ...defined({ userMessage, customIdentifier, tags, overrides }),
    omitsToolsRequested: contextOf(res).legacyClient !== undefined,
    span: contextOf(res).span,
    warn: (warning: string) => void res.setHeader('X-Stet-Warning', warning),
    signal: whileOpen(res),
  }
}

/**
 * Returns the conversation's uuid once the run is queued. A legacy client that `readsBackgroundStreams` gets the run's
 * event stream instead, if it requests a stream.
 */
async function runInBackground(
  deps: RunDeps,
  res: Response,
  input: ReturnType<typeof runInput>,
  wantsStream: boolean,
): Promise<RawResponse | { uuid: string }> {
  const { caller, claim } = input
  const isStream = wantsStream && contextOf(res).legacyClient?.readsBackgroundStreams === true
  if (isStream) followRun(deps, res, isStream)
  const queued = await startedOnce(deps, res, {
    claim,
    start: () => queueRun(deps, input),
    join: async (earlier) => earlier,
  })
  if (isStream) return runStream(deps, res, await joinRun(deps, { caller, ...queued, mode: 'stream' }, whileOpen(res)))
  res.setHeader('X-Conversation-Uuid', queued.conversationUuid)
  return { uuid: queued.conversationUuid }
}

interface RunStart {
  claim: Claim | undefined
  mode: 'json' | 'stream'
  start(): Promise<StartedRun>
}

/** Returns the event stream once the run is stored, or the result once the run has ended. */
async function runResponse(
  deps: RunDeps,
  res: Response,
  { claim, mode, start }: RunStart,
): Promise<RawResponse | RunResultBody> {
  followRun(deps, res, mode === 'stream')
  const join = (earlier: ClaimedRun) => joinRun(deps, { caller: callerOf(res), ...earlier, mode }, whileOpen(res))
  const run = await startedOnce(deps, res, { claim, start, join })
  if (mode === 'stream') {
    await run.committed
    return runStream(deps, res, run)
  }
  const result = runResultBody(await resultOf(res, run))
  return sizedBody(deps.unread, res, clientBody(contextOf(res).legacyClient, result))
}

function runStream(deps: RunDeps, res: Response, run: StreamedRun): RawResponse {
  return streamOf(run, clientFrames(contextOf(res).legacyClient), deps)
}
