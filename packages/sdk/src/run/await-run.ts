import { ApiPromise, type Outcome } from '../api-promise.ts'
import type { OutputKind } from '../registry.ts'
import type { RunStart } from '../run-start.ts'
import type { RunStream } from '../stream/run-stream.ts'
import { streamRun } from '../stream/stream-run.ts'
import type { Api } from '../transport/api.ts'
import type { RunResult } from '../types.ts'

/** Starts a run and waits for its result, which arrives as an event stream or as one JSON body. */
export function awaitRun<O extends OutputKind>(api: Api, start: RunStart<O>): ApiPromise<RunResult<O>> {
  const isStreamed = start.options.stream !== false
  const outcome = isStreamed
    ? streamedOutcome(streamRun(api, start, false))
    : import('./json-run.ts').then(({ jsonOutcome }) => jsonOutcome(api, start))
  return new ApiPromise(outcome.then(refuseIteration), isStreamed)
}

async function streamedOutcome<O extends OutputKind>(stream: RunStream<O>): Promise<Outcome<RunResult<O>>> {
  const [data, { response }] = await Promise.all([stream.finalResult(), stream.withResponse()])
  return { data, response }
}

/** Makes `for await (… of await run())` in plain JavaScript fail with a clear message. */
function refuseIteration<T extends Outcome<object>>(outcome: T): T {
  Object.defineProperty(outcome.data, Symbol.asyncIterator, {
    value: () => {
      throw new TypeError('run() was awaited; use prompts.stream()')
    },
  })
  return outcome
}
