import { ApiPromise, type Outcome } from '../api-promise.ts'
import { type OperationName, type OperationPaths, type OperationTypes, operations } from '../operations.ts'
import type { RequestOptions, Scope } from '../options.ts'
import type { Nothing } from '../registry.ts'
import type { Answer, Exchange } from './exchange.ts'
import { send } from './request.ts'
import { parseAnswer } from './response-error.ts'
import type { Settings } from './settings.ts'
import { fillRoute, type Query, queryString } from './url.ts'

const TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 5000

type ParamName<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamName<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never
type Part<K extends OperationName, Name extends string> = OperationTypes[K] extends Record<Name, infer T> ? T : unknown
type Sent<K extends OperationName> = Part<K, 'query'> & Part<K, 'body'>
type Required<T> = { [F in keyof T]-?: Nothing extends Pick<T, F> ? never : F }[keyof T]

/**
 * The path, body and query fields of a call that are not options. Includes every field that the operation requires and
 * `O` lacks. Undefined fields are not sent.
 */
export type Fields<K extends OperationName, O> = Partial<Record<ParamName<OperationPaths[K]>, string | number>> & {
  [F in Exclude<Required<Sent<K>>, keyof O>]: ReadonlyList<Sent<K>[F]>
} & { [F in keyof Sent<K>]?: ReadonlyList<Sent<K>[F]> | undefined }

type ReadonlyList<T> = T extends readonly (infer Item)[] ? readonly Item[] : T

export class Api {
  constructor(readonly settings: Settings) {}

  /**
   * Calls an operation and parses its JSON response. Also sends the options, except for those in `RequestOptions`.
   * Rejects missing or invalid path parameters before any request.
   */
  call<K extends OperationName, O extends RequestOptions>(
    name: K,
    fields: Fields<K, O>,
    options: O,
  ): ApiPromise<OperationTypes[K]['result']> {
    return new ApiPromise(this.answer(name, fields, options))
  }

  /** Stops a run with a short timeout. Sends the call's headers, because a gateway may require them. */
  stopRun(conversationUuid: string, { headers = {} }: RequestOptions): PromiseLike<unknown> {
    return this.call('runs.stop', { conversationUuid }, { timeout: STOP_TIMEOUT_MS, headers })
  }

  async answer<T>(
    name: OperationName,
    fields: object,
    options: RequestOptions,
    timeoutMs?: number,
  ): Promise<Outcome<T>> {
    if (!operations[name]) Object.assign(operations, (await import('../later-operations.ts')).laterOperations)
    return this.#parsed(this.exchange(name, fields, options, timeoutMs))
  }

  async open(name: OperationName, fields: object, options: RequestOptions): Promise<Answer> {
    return send(this.settings, { ...this.exchange(name, fields, options), isStream: true })
  }

  request<T>(
    method: string,
    path: string,
    { body, query, ...options }: { body?: unknown; query?: Query } & RequestOptions,
  ): ApiPromise<T> {
    return new ApiPromise(
      this.#parsed({
        operation: 'request',
        method,
        url: this.settings.baseUrl + path.replace(/^\/?/, '/') + queryString(query),
        body,
        retry: /GET|PUT|DELETE/.test(method),
        timeoutMs: options.timeout ?? this.settings.timeout ?? TIMEOUT_MS,
        options,
      }),
    )
  }

  projectId(options: Scope): string | undefined {
    const projectId = options.projectId ?? this.settings.projectId
    return projectId === undefined ? projectId : String(projectId)
  }

  async #parsed<T>(exchange: Exchange): Promise<Outcome<T>> {
    return parseAnswer(this.settings, await send(this.settings, exchange))
  }

  exchange(name: OperationName, fields: object, options: RequestOptions & Scope, timeoutMs = TIMEOUT_MS): Exchange {
    const { method, path, retry, outside, sendsBody } = operations[name]
    const { baseUrl, rootUrl, versionUuid } = this.settings
    const { signal, timeout, maxRetries, headers, idempotencyKey, ...own } = options
    const scope = { projectId: this.projectId(own), versionUuid: own.versionUuid ?? versionUuid, ...fields }
    const content: Query = { ...own, ...fields }
    return {
      operation: name,
      method,
      url: (outside ? rootUrl : baseUrl) + fillRoute(path, scope, content) + queryString(sendsBody ? {} : content),
      body: sendsBody ? content : undefined,
      retry,
      outside,
      timeoutMs: timeout ?? this.settings.timeout ?? timeoutMs,
      options,
      context: path.includes(':projectId') ? `project ${scope.projectId}, version ${scope.versionUuid}` : undefined,
      prompt: name === 'prompts.run' ? String(content['path']) : undefined,
    }
  }
}
