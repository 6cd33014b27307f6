import type { ToolResultBody, ToolResultTaken } from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { AttachOptions, RequestOptions } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import { attachStart } from '../stream/run-start.ts'
import type { RunStream } from '../stream/run-stream.ts'
import { awaitRun, streamRun } from '../stream/start-run.ts'
import type { ToolMap } from '../tools/tool.ts'
import type { Api } from '../transport/api.ts'
import type { RunResult, StopResult } from '../types.ts'

/**
 * Existing runs: queued, running or ended.
 *
 * @example const { response } = await stet.runs.attach(uuid)
 * @example await stet.runs.toolResult({ toolCallId: call.id, result: { sky: 'blue' } })
 */
export class Runs {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Waits for the end of the latest run. A run that failed or was stopped rejects with RunError.
   *
   * @example const { response } = await stet.runs.attach(uuid)
   */
  attach<O extends OutputKind = 'text'>(uuid: string, o?: AttachOptions<O>): ApiPromise<RunResult<O>>
  attach<O extends OutputKind, T extends object>(
    uuid: string,
    o?: AttachOptions<O> & { tools?: ToolMap<T> },
  ): ApiPromise<RunResult<O>>
  attach<O extends OutputKind>(uuid: string, o: AttachOptions<O> = {}): ApiPromise<RunResult<O>> {
    return awaitRun(this.#api, attachStart(uuid, o))
  }

  /**
   * The events of the latest run, from its first event or after `lastEventId`.
   *
   * @example
   * const stream = stet.runs.attachStream(uuid, { lastEventId: '41' })
   * for await (const event of stream) console.log(event.id, event.type)
   */
  attachStream<O extends OutputKind = 'text'>(uuid: string, o: AttachOptions<O> = {}): RunStream<O> {
    return streamRun(this.#api, attachStart(uuid, o))
  }

  /**
   * Stops the latest run. An ended run does not change. Resolves when the run has ended, or after 2 s.
   *
   * @example const { stopped, status } = await stet.runs.stop(uuid)
   */
  stop(uuid: string, o: RequestOptions = {}): ApiPromise<StopResult> {
    return this.#api.call('runs.stop', { conversationUuid: uuid }, o)
  }

  /**
   * Answers a tool call that a run waits for. The first result counts; later results are ignored.
   *
   * @example await stet.runs.toolResult({ toolCallId: call.id, result: { celsius: 21 } })
   */
  toolResult(r: ToolResultBody & { result: unknown }, o: RequestOptions = {}): ApiPromise<ToolResultTaken> {
    return this.#api.call('runs.toolResult', r, o)
  }
}
