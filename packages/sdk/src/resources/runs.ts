import type { ListRunsQuery, ToolResultBody, ToolResultTaken } from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { AttachOptions, InProject, RequestOptions } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import { awaitRun } from '../run/await-run.ts'
import { attachStart } from '../run-start.ts'
import type { RunStream } from '../stream/run-stream.ts'
import { streamRun } from '../stream/stream-run.ts'
import type { ToolMap } from '../tool.ts'
import type { Api } from '../transport/api.ts'
import type { ListedRun, Run, RunDetails, RunResult, StopResult } from '../types.ts'
import { type PagePromise, pagePromise } from './page.ts'

/**
 * Existing runs: queued, active or ended.
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
   * Waits until the conversation's latest run ends. Rejects with RunError if the run failed or was stopped.
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
   * Streams the events of the conversation's latest run, or of the run `runUuid`, from the first one or after
   * `lastEventId`.
   *
   * @example
   * const stream = stet.runs.attachStream(uuid, { lastEventId: '41' })
   * for await (const event of stream) console.log(event.id, event.type)
   */
  attachStream<O extends OutputKind = 'text'>(uuid: string, o: AttachOptions<O> = {}): RunStream<O> {
    return streamRun(this.#api, attachStart(uuid, o))
  }

  /**
   * Lists runs, newest first; with `tag` or `feedback`, by the start of the conversation. Iterating yields the runs of
   * all pages. `include: 'content'` adds their parameters and messages.
   *
   * @example for await (const { uuid, error } of stet.runs.list({ status: ['error'] })) console.log(uuid, error)
   */
  list(o: InProject & ListRunsQuery = {}): PagePromise<ListedRun> {
    return pagePromise((cursor) => this.#api.call('runs.list', { cursor }, o), o.cursor)
  }

  /**
   * Returns one run with its parameters and spans. Takes the uuid of a run, or of a conversation for its latest run.
   *
   * @example const { parameters, spans } = await stet.runs.get(uuid)
   */
  get(runUuid: string, o: RequestOptions = {}): ApiPromise<RunDetails> {
    return this.#api.call('runs.get', { runUuid }, o)
  }

  /**
   * Lists the runs of a conversation, oldest first.
   *
   * @example const [first] = await stet.runs.ofConversation(uuid)
   */
  ofConversation(uuid: string, o: RequestOptions = {}): ApiPromise<Run[]> {
    return this.#api.call('runs.ofConversation', { conversationUuid: uuid }, o)
  }

  /**
   * Stops the conversation's latest run. Does nothing if the run has already ended. The server waits up to 2 seconds
   * for the end of the run before it responds.
   *
   * @example const { stopped, status } = await stet.runs.stop(uuid)
   */
  stop(uuid: string, o: RequestOptions = {}): ApiPromise<StopResult> {
    return this.#api.call('runs.stop', { conversationUuid: uuid }, o)
  }

  /**
   * Sends the result of a tool call that a run waits for. The first result counts. Later results are ignored.
   *
   * @example await stet.runs.toolResult({ toolCallId: call.id, result: { celsius: 21 } })
   */
  toolResult(r: ToolResultBody & { result: unknown }, o: RequestOptions = {}): ApiPromise<ToolResultTaken> {
    return this.#api.call('runs.toolResult', r, o)
  }
}
