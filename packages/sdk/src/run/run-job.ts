import type { Outcome } from '../api-promise.ts'
import type { AttachOptions, RequestOptions } from '../options.ts'
import type { OutputKind } from '../registry.ts'
import { attachStart, noToolsInBackground, type RunStart, sentOptions } from '../run-start.ts'
import type { RunStream } from '../stream/run-stream.ts'
import { streamRun } from '../stream/stream-run.ts'
import type { Api } from '../transport/api.ts'
import type { Conversation, RunResult, StopResult } from '../types.ts'
import { awaitRun } from './await-run.ts'

/**
 * A background run, which needs no reader. You can call every method at any time, also after the run has ended.
 *
 * @example
 * const job = await stet.prompts.run('support/report', { background: true })
 * const { response } = await job.result()
 */
export interface RunJob<O extends OutputKind = 'text'> {
  /** The conversation's uuid. */
  readonly uuid: string
  /**
   * Streams the run's events, from the first one or after `lastEventId`.
   *
   * @example for await (const text of job.attach().textStream) process.stdout.write(text)
   */
  attach(o?: AttachOptions<O>): RunStream<O>
  /**
   * Waits until the run ends. A failed run rejects with RunError.
   *
   * @example const { response } = await job.result()
   */
  result(o?: AttachOptions<O>): Promise<RunResult<O>>
  /**
   * Stops the run.
   *
   * @example const { stopped } = await job.stop()
   */
  stop(o?: RequestOptions): Promise<StopResult>
  /**
   * Returns the conversation so far.
   *
   * @example const { status } = await job.conversation()
   */
  conversation(o?: RequestOptions): Promise<Conversation>
}

export async function startJob<O extends OutputKind>(api: Api, start: RunStart<O>): Promise<Outcome<RunJob<O>>> {
  if (start.options.tools) throw noToolsInBackground()
  const { data, response } = await api.answer<{ uuid: string }>(start.operation, start.fields, sentOptions(start))
  return { data: runJob<O>(api, data.uuid), response }
}

function runJob<O extends OutputKind>(api: Api, uuid: string): RunJob<O> {
  const fields = { conversationUuid: uuid }
  return {
    uuid,
    attach: (o = {}) => streamRun<O>(api, attachStart(uuid, o)),
    result: async (o = {}) => awaitRun<O>(api, attachStart(uuid, o)),
    stop: async (o = {}) => api.call('runs.stop', fields, o),
    conversation: async (o = {}) => api.call('conversations.get', fields, o),
  }
}
