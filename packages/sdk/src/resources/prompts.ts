import type {
  CheckDocumentBody,
  CreateDocumentBody,
  CreateOrUpdateDocumentBody,
  DeletedDocument,
  GetOrCreateDocumentBody,
  ListDocumentsQuery,
  MergeDocumentsBody,
  MoveDocumentBody,
} from '@stet/contract/vocabulary'
import { ApiPromise } from '../api-promise.ts'
import type { CacheOptions, PromptFallback } from '../cache-options.ts'
import type { ChatOptions, Open, RequestOptions, RunArgs, RunOptions, Scope, Unmet } from '../options.ts'
import type { PromptRegistry } from '../prompt-registry.ts'
import { writePrompts } from '../prompts/write-prompts.ts'
import type { Nothing, OutputKind, OutputOf, PromptPath } from '../registry.ts'
import { awaitRun } from '../run/await-run.ts'
import type { RunJob } from '../run/run-job.ts'
import type { RunStart } from '../run-start.ts'
import type { RunStream } from '../stream/run-stream.ts'
import { streamRun } from '../stream/stream-run.ts'
import type { HandlerMap, ToolMap } from '../tool.ts'
import type { Api } from '../transport/api.ts'
import type {
  FetchedPrompt,
  MergedPrompt,
  Message,
  MovedPrompt,
  Prompt,
  PromptCheck,
  RunResult,
  UnresolvedPrompt,
} from '../types.ts'

type AnyRunOptions = RunOptions<Nothing, string, OutputKind>

/**
 * Reads, writes and runs the prompts of a version. Default version: `live`.
 *
 * @example const { response } = await stet.prompts.run('support/reply', { parameters: { ticket } })
 */
export class Prompts<R = PromptRegistry> {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Returns one prompt. For an unknown path, rejects with NotFoundError, whose `details` suggest similar paths. With
   * `cache`, the prompt may come from the cache. With `fallback`, the call returns the fallback during an outage: after
   * at most `fallbackTimeout` milliseconds in all (default: 2000), and at once for 5 s after a failure. `source` names
   * the origin of the prompt.
   *
   * @example const { content, source } = await stet.prompts.get('support/reply', { cache: true, fallback: 'Hello' })
   */
  get<P extends PromptPath<R>>(
    path: P,
    o: Scope &
      RequestOptions & { cache?: boolean | CacheOptions; fallback?: PromptFallback; fallbackTimeout?: number } = {},
  ): ApiPromise<FetchedPrompt> {
    const { settings } = this.#api
    const { cache = settings.cache ?? false, fallback, fallbackTimeout, ...call } = o
    const fetch = async () => {
      if (cache || fallback !== undefined) {
        const { fetchPrompt } = await import('../prompts/fetch-prompt.ts')
        return fetchPrompt(this.#api, path, { ...o, cache })
      }
      const { data, response } = await this.#api.answer<Prompt>('prompts.get', { path }, call)
      return { data: { ...data, source: 'network' as const, fetchedAt: settings.runtime.now() }, response }
    }
    return new ApiPromise(fetch())
  }

  /**
   * Lists the version's prompts, ordered by path. Rejects with status 413 if they exceed 64 MB of JSON. With
   * `resolved: false`, the prompts have no `resolvedContent`. `limit` and `cursor`, the path of the last prompt of the
   * previous page, read the list in pages.
   *
   * @example
   * const replies = await stet.prompts.list({ prefix: 'support/' })
   * const first = await stet.prompts.list({ resolved: false, limit: 100 })
   */
  list(o: Scope & RequestOptions & ListDocumentsQuery & { resolved: false }): ApiPromise<UnresolvedPrompt[]>
  list(o?: Scope & RequestOptions & ListDocumentsQuery & { resolved?: true }): ApiPromise<Prompt[]>
  list(o: Scope & RequestOptions & ListDocumentsQuery = {}): ApiPromise<unknown> {
    return this.#api.call('prompts.list', {}, o)
  }

  /**
   * Creates a prompt in a draft. Rejects with ConflictError if the path has a prompt.
   *
   * @example await stet.prompts.create('support/closing', { versionUuid: draft.uuid, prompt: 'Goodbye {{ name }}' })
   */
  create(path: PromptPath<R>, o: Scope & RequestOptions & Omit<CreateDocumentBody, 'path'> = {}): ApiPromise<Prompt> {
    return writePrompts(this.#api, 'prompts.create', { path }, o)
  }

  /**
   * Returns the prompt at the path. If there is none, creates a prompt with the given text, in a draft only.
   *
   * @example
   * const { content } = await stet.prompts.getOrCreate('support/closing', { versionUuid: draft.uuid, prompt: 'Goodbye' })
   */
  getOrCreate(
    path: PromptPath<R>,
    o: Scope & RequestOptions & Omit<GetOrCreateDocumentBody, 'path'> = {},
  ): ApiPromise<Prompt> {
    return writePrompts(this.#api, 'prompts.getOrCreate', { path }, o)
  }

  /**
   * Writes a prompt. With `baseHash` or `ifMatch`, rejects with ConflictError if the prompt has changed. With `merge`,
   * changes of other lines are merged instead. In a draft, set `liveHash` to the hash of the live text that you merged
   * in, so that publishing reports no conflict.
   *
   * @example
   * const { contentHash } = await stet.prompts.get('support/reply')
   * await stet.prompts.createOrUpdate('support/reply', { versionUuid: draft.uuid, prompt: text, baseHash: contentHash })
   */
  createOrUpdate(
    path: PromptPath<R>,
    o: Scope & RequestOptions & Omit<CreateOrUpdateDocumentBody, 'path'> & { ifMatch?: string },
  ): ApiPromise<Prompt> {
    return writePrompts(this.#api, 'prompts.createOrUpdate', { path }, matching(o))
  }

  /**
   * Deletes a prompt from a draft. The live version keeps the prompt until you publish the draft.
   *
   * @example await stet.prompts.delete('support/old', { versionUuid: draft.uuid })
   */
  delete(path: PromptPath<R>, o: Scope & RequestOptions & { ifMatch?: string } = {}): ApiPromise<DeletedDocument> {
    return writePrompts(this.#api, 'prompts.delete', { path }, matching(o))
  }

  /**
   * Moves a prompt to another path of a draft. It keeps its examples, evaluations and conversations. Rejects with
   * ConflictError if there is a prompt at the new path. `brokenReferences` lists the prompts that refer to the old path:
   * change them before you publish.
   *
   * @example
   * const { brokenReferences } = await stet.prompts.move('support/reply', 'support/answer', { versionUuid: draft.uuid })
   */
  move(
    from: PromptPath<R>,
    to: string,
    o: Scope & RequestOptions & Omit<MoveDocumentBody, 'from' | 'to'> = {},
  ): ApiPromise<MovedPrompt> {
    return writePrompts(this.#api, 'prompts.move', { from, to }, o)
  }

  /**
   * Compiles a prompt, or the text in `prompt` instead of the stored one, without storing anything. With `parameters`,
   * also returns the messages that the model would receive. A `prompt` needs the key scope `write`.
   *
   * @example
   * const { errors, messages } = await stet.prompts.check('support/reply', { prompt: text, parameters: { ticket } })
   */
  check(
    path: PromptPath<R>,
    o: Scope & RequestOptions & Omit<CheckDocumentBody, 'path'> = {},
  ): ApiPromise<PromptCheck> {
    return this.#api.call('prompts.check', { path }, o)
  }

  /**
   * Merges texts by line with those of the version, without storing anything. Where both sides changed the same lines,
   * the result has conflict markers.
   *
   * @example
   * const { contentHash } = await stet.prompts.get('support/reply')
   * const [merged] = await stet.prompts.merge([{ path: 'support/reply', prompt: text, baseHash: contentHash }])
   */
  merge(items: Readonly<MergeDocumentsBody['items']>, o: Scope & RequestOptions = {}): ApiPromise<MergedPrompt[]> {
    return this.#api.call('prompts.merge', { items }, o)
  }

  /**
   * Fills the cache, a few prompts at a time. Rejects if any prompt cannot be fetched.
   *
   * @example await stet.prompts.prefetch(['support/reply', 'support/triage'])
   */
  async prefetch(paths: readonly PromptPath<R>[], o: Scope & RequestOptions = {}): Promise<void> {
    const { prefetch } = await import('../prompts/prefetch.ts')
    const cache = this.#api.settings.cache || true
    await prefetch(paths, (path) => this.get(path, { ...o, cache }))
  }

  /**
   * Runs a prompt and resolves when the run ends. Rejects with RunError if the run fails. With `background`, resolves
   * to a job as soon as the server has accepted the run.
   *
   * @example
   * const { response, cost } = await stet.prompts.run('support/reply', { parameters: { ticket } })
   * const job = await stet.prompts.run('support/report', { background: true })
   * const { object } = (await stet.prompts.run<{ urgency: string }>('support/triage', { parameters: { ticket } })).response
   */
  run<O extends OutputKind = never>(
    path: Open<O>,
    o: RunOptions<Nothing, string, O> & { background: true },
  ): ApiPromise<RunJob<NoInfer<O>>>
  run<O extends OutputKind = never, T extends object = Nothing>(
    path: Open<O>,
    o?: RunOptions<Nothing, string, O> & { tools?: HandlerMap<T> },
  ): ApiPromise<RunResult<NoInfer<O>>>
  run<P extends PromptPath<R>>(path: P, o: RunOptions<R, P> & { background: true }): ApiPromise<RunJob<OutputOf<R, P>>>
  run<P extends PromptPath<R>>(path: P & Unmet<R, P>): ApiPromise<RunResult<OutputOf<R, P>>>
  run<P extends PromptPath<R>>(path: P, ...o: RunArgs<R, P>): ApiPromise<RunResult<OutputOf<R, P>>>
  run(path: string, o: { background?: boolean } = {}): ApiPromise<unknown> {
    const start = runStart(path, o)
    if (!o.background) return awaitRun(this.#api, start)
    return new ApiPromise(import('../run/run-job.ts').then(({ startJob }) => startJob(this.#api, start)))
  }

  /**
   * Runs a prompt and immediately returns the run's stream. Every reader receives all events, unless `bufferEvents` is
   * false.
   *
   * @example
   * const stream = stet.prompts.stream('support/reply', { parameters: { ticket } })
   * for await (const text of stream.textStream) process.stdout.write(text)
   */
  stream<O extends OutputKind = never, T extends object = Nothing>(
    path: Open<O>,
    o?: RunOptions<Nothing, string, O> & { tools?: HandlerMap<T> },
  ): RunStream<NoInfer<O>>
  stream<P extends PromptPath<R>>(path: P & Unmet<R, P>): RunStream<OutputOf<R, P>>
  stream<P extends PromptPath<R>>(path: P, ...o: RunArgs<R, P>): RunStream<OutputOf<R, P>>
  stream(path: string, o: object = {}): unknown {
    return streamRun(this.#api, runStart(path, o))
  }

  /**
   * Continues a conversation and resolves when the run ends. A plain string becomes one user message.
   *
   * @example const { response } = await stet.prompts.chat(result.uuid, 'And in French?')
   */
  chat<O extends OutputKind = 'text'>(
    uuid: string,
    messages: Message[] | string,
    o?: ChatOptions<O>,
  ): ApiPromise<RunResult<O>>
  chat<O extends OutputKind, T extends object>(
    uuid: string,
    messages: Message[] | string,
    o?: ChatOptions<O> & { tools?: ToolMap<T> },
  ): ApiPromise<RunResult<O>>
  chat<O extends OutputKind>(
    uuid: string,
    messages: Message[] | string,
    o: ChatOptions<O> = {},
  ): ApiPromise<RunResult<O>> {
    return awaitRun(this.#api, chatStart(uuid, messages, o))
  }

  /**
   * Continues a conversation and immediately returns the response stream.
   *
   * @example
   * for await (const text of stet.prompts.chatStream(result.uuid, 'And in French?').textStream) process.stdout.write(text)
   */
  chatStream<O extends OutputKind = 'text'>(
    uuid: string,
    messages: Message[] | string,
    o: ChatOptions<O> = {},
  ): RunStream<O> {
    return streamRun(this.#api, chatStart(uuid, messages, o))
  }
}

/** Converts `ifMatch` to a header with a quoted ETag. */
function matching<O extends RequestOptions & { ifMatch?: string }>({ ifMatch, ...o }: O): Omit<O, 'ifMatch'> {
  if (ifMatch === undefined) return o
  return { ...o, headers: { 'If-Match': ifMatch === '*' ? '*' : `"${ifMatch.replaceAll('"', '')}"`, ...o.headers } }
}

function runStart(path: string, options: AnyRunOptions): RunStart<OutputKind> {
  return { operation: 'prompts.run', fields: { path }, options, path }
}

function chatStart<O extends OutputKind>(
  conversationUuid: string,
  said: Message[] | string,
  options: ChatOptions<O>,
): RunStart<O> {
  const messages: Message[] = typeof said === 'string' ? [{ role: 'user', content: said }] : said
  return { operation: 'conversations.chat', fields: { conversationUuid, messages }, options }
}
