import type {
  ApiError,
  ApiPromise,
  ChatOptions,
  Message,
  OutputKind,
  Prompt,
  PromptRegistry,
  Prompts,
  RequestOptions,
  RunJob,
  RunOptions,
  RunResult,
  Scope,
  Stet,
} from '../index.ts'
import type { AdapterName, Rendered, RenderToolHandler } from '../render/index.ts'
import { settled } from './failures.ts'
import { type LatitudeTools, withOldNames } from './tools.ts'

type None = Record<never, never>

interface ErrorCallback {
  /** Receives the error of the call once. The call then resolves to undefined. Without `onError`, the call rejects. */
  onError?: (error: ApiError) => void
}

type RunSettings<O extends OutputKind, T, B> = Omit<RunOptions<None, string, O>, 'tools' | 'onError' | 'background'> &
  ErrorCallback & { tools?: LatitudeTools<T>; background?: B }

type ChatSettings<O extends OutputKind, T> = Omit<ChatOptions<O>, 'tools' | 'onError'> &
  ErrorCallback & { tools?: LatitudeTools<T> }

interface RenderSettings {
  prompt: { content: string }
  parameters: Record<string, unknown>
  /** Default: `Adapters.openai`. */
  adapter?: AdapterName | object
}

interface RenderChainSettings<M> {
  prompt: Pick<Prompt, 'path' | 'content'> & { provider?: string }
  parameters: Record<string, unknown>
  /** Calls the model and returns its response. */
  onStep: (step: {
    config: Record<string, unknown>
    messages: M[]
  }) => Promise<string | Omit<M, 'role'> | Omit<M, 'role'>[]>
  adapter?: AdapterName | object
  tools?: Record<string, RenderToolHandler>
  /** Ignored. */
  logResponses?: boolean
}

/** `latitude.prompts`, with the published clients' argument order. */
export interface LatitudePrompts
  extends Pick<Prompts<PromptRegistry>, 'get' | 'create' | 'getOrCreate' | 'createOrUpdate' | 'delete'> {
  /**
   * Lists all prompts of a version.
   *
   * @example const prompts = await latitude.prompts.getAll({ versionUuid: draft.uuid })
   */
  getAll(o?: Scope & RequestOptions): ApiPromise<Prompt[]>
  /**
   * Runs a prompt and resolves when the run ends, with or without `stream`. With `background: true`, resolves to the
   * job as soon as the server has accepted the run.
   *
   * @example
   * const result = await latitude.prompts.run('support/reply', { parameters: { ticket }, onError: (error) => report(error) })
   * const { uuid } = await latitude.prompts.run('support/report', { background: true })
   */
  run<O extends OutputKind = 'text', T extends object = None, B extends boolean = false>(
    path: string,
    o?: RunSettings<O, T, B>,
  ): ApiPromise<[B] extends [true] ? RunJob<O> : RunResult<O> | undefined>
  /**
   * Continues a conversation.
   *
   * @example
   * const next = await latitude.prompts.chat(result.uuid, [{ role: 'user', content: [{ type: 'text', text: 'And in French?' }] }])
   */
  chat<O extends OutputKind = 'text', T extends object = None>(
    uuid: string,
    messages: Message[],
    o?: ChatSettings<O, T>,
  ): ApiPromise<RunResult<O> | undefined>
  /**
   * Renders a prompt in this process without calling the server.
   *
   * @example
   * const prompt = await latitude.prompts.get('support/reply')
   * const { config, messages } = await latitude.prompts.render({ prompt, parameters: { ticket }, adapter: Adapters.openai })
   */
  render<M = Message>(o: RenderSettings): Promise<Rendered<M>>
  /**
   * Renders a prompt step by step in this process. Your `onStep` calls the model.
   *
   * @example
   * const prompt = await latitude.prompts.get('support/steps')
   * const { messages } = await latitude.prompts.renderChain({ prompt, parameters: { ticket }, onStep: async ({ messages }) => askModel(messages) })
   */
  renderChain<M = Message>(o: RenderChainSettings<M>): Promise<Rendered<M>>
}

/** Adapts `stet.prompts` to the published clients' API. */
export function latitudePrompts({ prompts }: Stet): LatitudePrompts {
  return {
    get: prompts.get.bind(prompts),
    create: prompts.create.bind(prompts),
    getOrCreate: prompts.getOrCreate.bind(prompts),
    createOrUpdate: prompts.createOrUpdate.bind(prompts),
    delete: prompts.delete.bind(prompts),
    getAll: (o) => prompts.list(o),
    run: ((path: string, o: RunSettings<OutputKind, object, boolean> = {}): unknown => {
      const { onError, ...options } = o
      return settled(prompts.run(path, modern(options)), { onError }, isStreamed(o))
    }) as LatitudePrompts['run'],
    chat: ((uuid: string, messages: Message[], o: ChatSettings<OutputKind, object> = {}) => {
      const { onError, ...options } = o
      return settled(prompts.chat(uuid, messages, modern(options)), { onError }, isStreamed(o))
    }) as LatitudePrompts['chat'],
    async render({ prompt, ...o }) {
      const { render } = await import('../render/index.ts')
      return render(prompt, o)
    },
    async renderChain({ prompt, logResponses, ...o }) {
      const { renderChain } = await import('../render/index.ts')
      return renderChain(prompt, o)
    },
  }
}

function isStreamed({ stream, background }: { stream?: boolean; background?: boolean }): boolean {
  return stream !== false && !background
}

// The options of the two clients differ only in the field names of a tool's context.
function modern(options: { tools?: object }): None {
  return options.tools ? { ...options, tools: withOldNames(options.tools) } : options
}
