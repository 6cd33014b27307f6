/** Answers with a run in the form that was asked for: one JSON body, or its event stream. */
import type { RunResult as RunResultBody } from '@stet/contract'
import type { Response } from 'express'
import type { StartedRun } from '../../features/runs/start-run.ts'
import type { HttpDeps } from '../http-deps.ts'
import type { UnreadBudget } from '../limits/unread-budget.ts'
import { ResponseTap } from '../mount.ts'
import { callerOf, contextOf, whileOpen } from '../request/request-context.ts'
import type { StreamLimit } from '../request/stream-limit.ts'
import { type StreamedRun, writeRunStream } from '../sse.ts'
import { runResultBody } from '../wire/run-result.ts'
import { sizedBody } from './large-body.ts'

export interface RunAnswers {
  started(
    res: Response,
    asStream: boolean,
    start: (mode: 'json' | 'stream') => Promise<StartedRun>,
  ): Promise<ResponseTap | RunResultBody>
  /** For an answer that waits for the end of a run: aborted when the caller leaves. */
  whileOpen(res: Response): AbortSignal
  /** The events of a run that is there already, or that this caller does not keep alive. */
  stream(res: Response, open: () => Promise<StreamedRun & { release(): void }>): Promise<ResponseTap>
}

export function runAnswers(
  { log, drain }: Pick<HttpDeps, 'log' | 'drain'>,
  { streams, unread }: { streams: StreamLimit; unread: UnreadBudget },
): RunAnswers {
  const tap = (res: Response, run: StreamedRun) => {
    const isDeclared = contextOf(res).client.declared
    return new ResponseTap((response) => {
      letGo(response.req)
      writeRunStream(response, run, { isDeclared, log })
    })
  }
  return {
    async started(res, asStream, start) {
      drain.followRun(res)
      if (asStream) {
        streams.enter(callerOf(res).apiKeyId, res)
        const run = await start('stream')
        await run.committed
        return tap(res, run)
      }
      const run = await start('json')
      const name = () => void res.setHeader('X-Conversation-Uuid', run.conversationUuid)
      const result = await run.result(whileOpen(res)).catch(async (failure: unknown) => {
        // Of a run that was never stored there is no conversation to name.
        await run.committed.then(name, () => undefined)
        throw failure
      })
      name()
      return sizedBody(unread, res, runResultBody(result, contextOf(res).client.declared))
    },
    whileOpen(res) {
      drain.followRun(res)
      return whileOpen(res)
    },
    async stream(res, open) {
      drain.followRun(res)
      streams.enter(callerOf(res).apiKeyId, res)
      const run = await open()
      // A caller that left before the head was written never comes to read.
      if (res.closed) run.release()
      return tap(res, run)
    },
  }
}

// A stream may be open for long: the router's chain and the parsed body have done their work.
function letGo(req: { next?: unknown; body?: unknown }): void {
  req.next = undefined
  req.body = undefined
}
