import type {
  DeletedConversation,
  ErasedConversations,
  Feedback,
  FeedbackBody,
  LabeledConversation,
  ListAnnotationsQuery,
  ListConversationsQuery,
  UpdateConversationBody,
} from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { InProject, RequestOptions } from '../options.ts'
import type { Api } from '../transport/api.ts'
import type { Annotation, Conversation, ConversationSummary, ListedAnnotation } from '../types.ts'
import type { Evaluations } from './evaluations.ts'
import { type PagePromise, pagePromise } from './page.ts'
import type { Prompts } from './prompts.ts'
import type { Runs } from './runs.ts'

/**
 * Stored conversations. Every run belongs to a conversation, which you can read during the run.
 *
 * @example const { status, conversation } = await stet.conversations.get(result.uuid)
 */
export class Conversations {
  readonly #api: Api
  /** Continues a conversation. Same as `prompts.chat`. */
  readonly chat: Prompts['chat']
  /** Continues a conversation as a stream. Same as `prompts.chatStream`. */
  readonly chatStream: Prompts['chatStream']
  /** Attaches to the latest run. Same as `runs.attach`. */
  readonly attach: Runs['attach']
  /** Attaches to the latest run as a stream. Same as `runs.attachStream`. */
  readonly attachStream: Runs['attachStream']
  /** Stops the latest run. Same as `runs.stop`. */
  readonly stop: Runs['stop']
  /** Scores a conversation. Same as `evaluations.annotate`. */
  readonly annotate: Evaluations['annotate']

  constructor(
    api: Api,
    prompts: Pick<Prompts, 'chat' | 'chatStream'>,
    runs: Pick<Runs, 'attach' | 'attachStream' | 'stop'>,
    evaluations: Pick<Evaluations, 'annotate'>,
  ) {
    this.#api = api
    this.annotate = evaluations.annotate.bind(evaluations)
    this.chat = prompts.chat.bind(prompts)
    this.chatStream = prompts.chatStream.bind(prompts)
    this.attach = runs.attach.bind(runs)
    this.attachStream = runs.attachStream.bind(runs)
    this.stop = runs.stop.bind(runs)
  }

  /**
   * Returns one conversation with its messages so far.
   *
   * @example const { status, conversation, cost } = await stet.conversations.get(result.uuid)
   */
  get(uuid: string, o: RequestOptions = {}): ApiPromise<Conversation> {
    return this.#api.call('conversations.get', { conversationUuid: uuid }, o)
  }

  /**
   * Lists conversations without their messages, newest first. Iterating yields the items of all pages. `from` and `to`
   * are ISO 8601 timestamps. `limit` is the page size.
   *
   * @example
   * for await (const { uuid, error } of stet.conversations.list({ path: 'support/reply', status: 'error' })) console.log(uuid, error)
   */
  list(o: InProject & Omit<ListConversationsQuery, 'projectId'> = {}): PagePromise<ConversationSummary> {
    const projectId = this.#api.projectId(o)
    return pagePromise((cursor) => this.#api.call('conversations.list', { projectId, cursor }, o), o.cursor)
  }

  /**
   * Labels a conversation. `tags` replaces all tags, `addTags` and `removeTags` change some, `note: ''` removes the note.
   * Rejects with BadRequestError if a tag begins with `feedback:`.
   *
   * @example await stet.conversations.update(uuid, { tags: ['wrong-tone'], note: 'Ignores the order number' })
   */
  update(uuid: string, i: UpdateConversationBody, o: RequestOptions = {}): ApiPromise<LabeledConversation> {
    return this.#api.call('conversations.update', { ...i, conversationUuid: uuid }, o)
  }

  /**
   * Records the verdict of your application's user. Feedback with the same `by` replaces the user's earlier one. The
   * newest feedback of a conversation counts.
   *
   * @example await stet.conversations.feedback(uuid, 'down', { comment: 'Wrong order number', by: 'user-7' })
   */
  feedback(
    uuid: string,
    value: FeedbackBody['value'],
    o: RequestOptions & Omit<FeedbackBody, 'value'> = {},
  ): ApiPromise<Feedback> {
    return this.#api.call('conversations.feedback', { conversationUuid: uuid, value }, o)
  }

  /**
   * Permanently deletes a conversation with its runs and annotations. Rejects with ConflictError if a run is active.
   *
   * @example await stet.conversations.delete(result.uuid)
   */
  delete(uuid: string, o: RequestOptions = {}): ApiPromise<DeletedConversation> {
    return this.#api.call('conversations.delete', { conversationUuid: uuid }, o)
  }

  /**
   * Permanently deletes every ended conversation of a custom identifier, in all projects or in `o.projectId`. Ignores
   * the client's project. `active` counts the conversations that remain because of an active run. Stop these runs, then
   * erase again.
   *
   * @example const { deleted, active } = await stet.conversations.erase('customer-7')
   */
  erase(
    customIdentifier: string,
    o: RequestOptions & { projectId?: number | string } = {},
  ): ApiPromise<ErasedConversations> {
    const { projectId, ...options } = o
    const project = projectId === undefined ? {} : { projectId: String(projectId) }
    return this.#api.call('conversations.erase', { customIdentifier, ...project }, options)
  }

  /**
   * Lists a conversation's annotations, newest first. With `states: 'all'`, also unscored ones, whose scores are null.
   *
   * @example const [newest] = await stet.conversations.annotations(result.uuid)
   */
  annotations(uuid: string, o?: RequestOptions & { states?: 'scored' }): ApiPromise<(ListedAnnotation & Annotation)[]>
  annotations(uuid: string, o: RequestOptions & ListAnnotationsQuery): ApiPromise<ListedAnnotation[]>
  annotations(uuid: string, o: RequestOptions & ListAnnotationsQuery = {}): ApiPromise<ListedAnnotation[]> {
    return this.#api.call('conversations.annotations', { conversationUuid: uuid }, o)
  }
}
