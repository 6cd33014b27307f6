/** The six routes below `/v1`, for OpenAI's clients. Their shapes are OpenAI's, so they are not in the contract. */
import type { RouteMetadata } from '@stet/contract'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { attachRun } from '../../features/conversations/attach-conversation.ts'
import { stopRun } from '../../features/conversations/stop-conversation.ts'
import type { StoredResponse } from '../../features/idempotency/ports.ts'
import type { RunFrames, StartedRun } from '../../features/runs/events/watch-run.ts'
import type { AddFrame } from '../../features/runs/ports.ts'
import { completionFrames, completionObject } from '../../wire/openai/chat-completion.ts'
import { DoorRefusal, invalid } from '../../wire/openai/fields.ts'
import { modelName, runOfResponse } from '../../wire/openai/names.ts'
import { type DoorRequest, readChatRequest, readResponsesRequest } from '../../wire/openai/request.ts'
import { type ResponseStream, responseObject, responseStream } from '../../wire/openai/responses.ts'
import { storedEnd } from '../../wire/openai/stored-run.ts'
import { admit, admitToRoute } from '../auth/admit.ts'
import { callerOf, contextOf, whileOpen } from '../auth/request-context.ts'
import { errorHandler, errorResponse } from '../body/error-response.ts'
import { followRun, resultOf, streamOf } from '../body/sse.ts'
import type { HttpDeps } from '../http-deps.ts'
import { idempotencyClaim, startedOnce } from '../idempotency/only-once.ts'
import { unmatchedRoute } from '../mount.ts'
import type { StreamLimit } from '../rate-limit/rate-limit.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { RawResponse, sizedBody } from '../raw-response.ts'
import { type ReadRun, readRun, unknownResponse } from './door-run.ts'
import { showDoorError } from './errors.ts'
import { findNamedPrompt, listModels } from './named-prompt.ts'
import { type Call, prepareCall } from './start-run.ts'

export const doorPrefix = '/v1'

interface Limits {
  unread: UnreadBudget
  streams: StreamLimit
}

type DoorDeps = HttpDeps & Limits

interface DoorRoute
  extends Pick<RouteMetadata, 'method' | 'path' | 'scope' | 'idempotent' | 'streams' | 'worksWhenFull'> {
  /** The path for the router. `path` names the route in logs and metrics. */
  pattern?: string
  /** The paths on which other methods are 405. Default: `pattern`. */
  known?: string
  answer(deps: DoorDeps, req: Request, res: Response): Promise<unknown>
}

const reading = ['read', 'run'] as const
/** OpenAI has routes beside responses that stet does not have, for example `/responses/compact`. */
const known = '/responses/resp_:id'

const doorRoutes: readonly DoorRoute[] = [
  {
    ...{ method: 'GET', path: '/models', scope: reading },
    answer: async (deps, _req, res) =>
      sizedBody(deps.unread, res, { object: 'list', data: await listModels(deps, callerOf(res)) }),
  },
  { ...{ method: 'GET', path: '/models/:id', pattern: '/models/*id', scope: reading }, answer: readModel },
  {
    ...{ method: 'POST', path: '/chat/completions', scope: 'run', idempotent: true, streams: true },
    answer: complete,
  },
  { ...{ method: 'POST', path: '/responses', scope: 'run', idempotent: true, streams: true }, answer: respond },
  { ...{ method: 'GET', path: '/responses/:id', known, scope: reading, streams: true }, answer: readResponse },
  { ...{ method: 'POST', path: '/responses/:id/cancel', scope: 'run', worksWhenFull: true }, answer: cancel },
]

export function openaiDoor(httpDeps: HttpDeps, limits: Limits): Router {
  const deps: DoorDeps = { ...httpDeps, ...limits }
  const router = Router({ caseSensitive: true })
  router.use(admit(deps))
  for (const route of doorRoutes) {
    const { method, path, pattern = path, answer } = route
    const named: RequestHandler = (req, _res, next) => {
      Object.assign(req, { tsRestRoute: { method, path: doorPrefix + path, metadata: route } })
      next()
    }
    const handler: RequestHandler = async (req, res) => {
      const body = await answer(deps, req, res)
      if (body instanceof RawResponse) body.pipe(res)
      else res.status(200).json(body)
    }
    router[method === 'GET' ? 'get' : 'post'](pattern, named, admitToRoute(deps), handler)
  }
  router.use(
    unmatchedRoute(doorRoutes.map(({ method, path, pattern = path, known = pattern }) => ({ method, path: known }))),
  )
  router.use(errorHandler(deps.logger, showDoorError))
  return router
}

async function readModel(deps: DoorDeps, req: Request, res: Response): Promise<unknown> {
  const id = [req.params['id'] ?? ''].flat().join('/')
  const { prepared } = await findNamedPrompt(deps, callerOf(res), modelName(id))
  const { mergedAt, createdAt } = prepared.version
  const created = Math.floor((mergedAt ?? createdAt).getTime() / 1000)
  return { id, object: 'model', created, owned_by: prepared.project.name }
}

async function complete(deps: DoorDeps, req: Request, res: Response): Promise<unknown> {
  const request = readChatRequest(req.body, req.get('x-stet-parameters'))
  const { run, kept } = await started(deps, { req, res, request, isChat: true })
  if (!request.stream)
    return jsonResult(deps, res, run, kept, (read) => {
      const end = storedEnd(read.conversation, read.run.toolNames)
      if (typeof end === 'string') throw new Error('The run has ended')
      return completionObject(read.run, end.end, end.output)
    })
  return startedStream(deps, res, run, kept, ({ run: own }) => ({
    head: '',
    addFrame: completionFrames(own, request.includesUsage),
  }))
}

async function respond(deps: DoorDeps, req: Request, res: Response): Promise<unknown> {
  const request = readResponsesRequest(req.body, req.get('x-stet-parameters'))
  if (request.background) return respondInBackground(deps, { req, res, request })
  const { run, kept } = await started(deps, { req, res, request, isChat: false })
  if (!request.stream) return jsonResult(deps, res, run, kept, responseOf)
  return startedStream(deps, res, run, kept, (read) => responseStream(read.run))
}

function responseOf({ run, conversation }: ReadRun): object {
  return responseObject(run, storedEnd(conversation, run.toolNames))
}

/** Work has begun: OpenAI's clients repeat every 5xx by themselves, and the repeated run would cost money. */
function noRetry(res: Response): void {
  res.setHeader('X-Should-Retry', 'false')
}

async function startedStream(
  deps: DoorDeps,
  res: Response,
  run: StartedRun,
  kept: string | undefined,
  streamFor: (read: ReadRun) => ResponseStream,
): Promise<RawResponse> {
  try {
    await run.committed
    return streamed(deps, run, streamFor(await readRun(deps, callerOf(res), run.runUuid, kept)))
  } catch (failure) {
    run.release()
    noRetry(res)
    throw failure
  }
}

/** Follows an earlier request's run. @throws DoorRefusal `stream_expired` */
async function joined(deps: DoorDeps, res: Response, runUuid: string, mode: 'json' | 'stream'): Promise<StartedRun> {
  const run = await attachRun(deps, { caller: callerOf(res), runUuid, mode }, whileOpen(res))
  if (run) return run
  const message = 'The events of this response were dropped. Read it without `stream`'
  throw new DoorRefusal(400, { code: 'stream_expired', param: 'stream', message })
}

interface Received {
  req: Request
  res: Response
  request: DoorRequest
}

/** Starts the run once, or joins it. `kept` is undefined for the run of an earlier request. */
async function started(deps: DoorDeps, { req, res, request, isChat }: Received & { isChat: boolean }) {
  const claim = claimOf(req, res)
  const call = callOf(deps, res, request, claim, isChat)
  followRun(deps, res, request.stream)
  let kept: string | undefined
  const run = await startedOnce<StartedRun>(deps, res, {
    claim,
    async start() {
      const prepared = await prepareCall(deps, call)
      kept = prepared.kept
      return prepared.start()
    },
    join({ runUuid }) {
      kept = undefined
      return joined(deps, res, runUuid, request.stream ? 'stream' : 'json')
    },
    failure: failureOf(res),
  })
  return { run, kept }
}

async function respondInBackground(deps: DoorDeps, { req, res, request }: Received): Promise<unknown> {
  const caller = callerOf(res)
  const claim = claimOf(req, res)
  const call = callOf(deps, res, request, claim, false)
  if (request.stream) followRun(deps, res, true)
  let kept: string | undefined
  const { runUuid, conversationUuid } = await startedOnce(deps, res, {
    claim,
    async start() {
      const prepared = await prepareCall(deps, call)
      kept = prepared.kept
      return prepared.startInBackground()
    },
    async join(earlier) {
      kept = undefined
      return earlier
    },
    failure: failureOf(res),
  })
  res.setHeader('X-Conversation-Uuid', conversationUuid)
  noRetry(res)
  const read = await readRun(deps, caller, runUuid, kept)
  if (!request.stream) return responseObject(read.run, 'queued')
  return streamed(deps, await joined(deps, res, runUuid, 'stream'), responseStream(read.run))
}

/** The refusals of this door are 400 or 404, which are not stored. */
function failureOf(res: Response) {
  return (error: unknown): StoredResponse =>
    error instanceof DoorRefusal
      ? { status: error.status, headers: {}, body: undefined }
      : errorResponse(error, contextOf(res).requestId)
}

/** A repeated request has the same parameters too, where they are in a header. */
function claimOf(req: Request, res: Response): Claim {
  const parameters = req.get('x-stet-parameters')
  return idempotencyClaim(req, res, parameters === undefined ? req.body : { body: req.body, parameters })
}

type Claim = ReturnType<typeof idempotencyClaim>

function callOf({ unread }: Limits, res: Response, request: DoorRequest, claim: Claim, isChat: boolean): Call {
  const caller = callerOf(res)
  const warnings = [...request.warnings]
  const show = () => void res.setHeader('X-Stet-Warning', warnings.join('; '))
  if (warnings.length > 0) show()
  return {
    ...{ request, claim, caller, span: contextOf(res).span, signal: whileOpen(res) },
    endsWithReader: isChat,
    warn(warning: string) {
      warnings.push(warning)
      show()
    },
    async inRoom(work) {
      await unread.reserve(res, caller.apiKeyId)
      const result = await work()
      unread.hold(res, 0)
      return result
    },
  }
}

/** @param bodyOf shows the run as it is stored, so that later reads are the same */
async function jsonResult(
  deps: DoorDeps,
  res: Response,
  run: StartedRun,
  kept: string | undefined,
  bodyOf: (read: ReadRun) => object,
): Promise<unknown> {
  try {
    await resultOf(res, run)
    return sizedBody(deps.unread, res, bodyOf(await readRun(deps, callerOf(res), run.runUuid, kept)))
  } catch (failure) {
    noRetry(res)
    throw failure
  }
}

/** Writes `head` before the first frame. */
function withHead(frames: RunFrames, head: string): RunFrames {
  let left = head
  return {
    ...frames,
    take() {
      if (left === '') return frames.take()
      const text = left
      left = ''
      return text
    },
    isAtEnd: () => left === '' && frames.isAtEnd(),
  }
}

function streamed(deps: DoorDeps, started: StartedRun, { head, addFrame }: ResponseStream): RawResponse {
  const run = { ...started, frames: (add: AddFrame) => withHead(started.frames(add), head) }
  return streamOf(run, addFrame, deps)
}

async function readResponse(deps: DoorDeps, req: Request, res: Response): Promise<unknown> {
  const read = await addressed(deps, req, res)
  if (req.query['stream'] !== 'true') {
    res.setHeader('X-Conversation-Uuid', read.run.conversationUuid)
    return sizedBody(deps.unread, res, responseOf(read))
  }
  const startingAfter = startingAfterOf(req.query['starting_after'])
  followRun(deps, res, true)
  const run = await joined(deps, res, read.run.runUuid, 'stream')
  // The stream does not need the conversation.
  deps.unread.hold(res, 0)
  return streamed(deps, run, responseStream(read.run, startingAfter))
}

function startingAfterOf(written: unknown): number | undefined {
  if (written === undefined) return undefined
  if (typeof written !== 'string' || !/^\d{1,9}$/.test(written)) throw invalid('starting_after', 'a whole number')
  return Number(written)
}

async function cancel(deps: DoorDeps, req: Request, res: Response): Promise<unknown> {
  const { run } = await addressed(deps, req, res)
  // The end of the run may take a while, and needs no room.
  deps.unread.hold(res, 0)
  await stopRun(deps, { caller: callerOf(res), runUuid: run.runUuid })
  return sizedBody(deps.unread, res, responseOf(await addressed(deps, req, res)))
}

/** Waits for room, because a run is read with its whole conversation. @throws DoorRefusal or AppError NotFoundError */
async function addressed(deps: DoorDeps, req: Request, res: Response): Promise<ReadRun> {
  const runUuid = runOfResponse(String(req.params['id']))
  if (runUuid === undefined) throw unknownResponse()
  const caller = callerOf(res)
  await deps.unread.reserve(res, caller.apiKeyId)
  return readRun(deps, caller, runUuid)
}
