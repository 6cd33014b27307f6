import type { CreateLogBody } from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { RequestOptions, Scope } from '../options.ts'
import type { Api } from '../transport/api.ts'
import type { LogEntry, Message } from '../types.ts'

/**
 * External logs record executions that ran outside stet.
 *
 * @example await stet.logs.create('support/reply', [{ role: 'user', content: question }], { response: answer })
 */
export class Logs {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Stores an execution as a conversation, which you can read, continue and annotate. `duration` is in milliseconds.
   *
   * @example
   * const log = await stet.logs.create('support/reply', [{ role: 'user', content: ticket }], { response: 'On its way.', duration: 840 })
   * await stet.prompts.chat(log.uuid, 'And in French?')
   */
  create(
    path: string,
    messages: Message[],
    o: Scope & RequestOptions & Omit<CreateLogBody, 'path' | 'messages'> = {},
  ): ApiPromise<LogEntry> {
    return this.#api.call('logs.create', { path, messages }, o)
  }
}
