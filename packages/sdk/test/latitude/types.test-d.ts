/** Code written for the published clients must compile and keep its types. */
import type { RunJob, RunResult } from '../../src/index.ts'
import {
  Adapters,
  type ChainEventDto,
  ChainEventTypes,
  ContentType,
  type GenerationResponse,
  type Instrumentation,
  Latitude,
  type LatitudeApiError,
  type LatitudeOptions,
  LogSources,
  type Message,
  MessageRole,
  type Options,
  type Project,
  type Prompt,
  type RenderToolCallDetails,
  type StreamChainResponse,
  StreamEventTypes,
  type ToolCall,
  type ToolCallDetails,
  type ToolCallResponse,
  type ToolHandler,
  type ToolSpec,
} from '../../src/latitude/index.ts'

declare function typed<Expected>(value: Expected): void
declare const latitude: Latitude

new Latitude(process.env['LATITUDE_API_KEY'], {
  projectId: 1,
  versionUuid: 'live',
  __internal: { gateway: { host: 'localhost', port: 8787, ssl: false }, source: LogSources.API, retryMs: 10 },
})
new Latitude()
// @ts-expect-error the API key comes first
new Latitude({ projectId: 1 })
typed<LatitudeOptions>({ hooks: {}, maxRetries: 1 })

// The next calls return a text, an object, tools and a job.
typed<Promise<RunResult | undefined>>(latitude.prompts.run('a', { stream: true }))
typed<Promise<RunResult<{ score: number }> | undefined>>(
  latitude.prompts.run<{ score: number }>('a', { stream: false }),
)
latitude.prompts.run<'text', { weather: { city: string }; stop: object }>('a', {
  tools: {
    weather: async ({ city }, { id, name, arguments: args, toolId, toolName, conversationUuid, pauseExecution }) => {
      typed<string[]>([city, id, name, toolId, toolName, conversationUuid])
      typed<Record<string, unknown>>(args)
      return city === '' ? pauseExecution() : 'blue'
    },
    stop: () => undefined,
  },
})
latitude.prompts.run<'text', { weather: { city: string } }>('a', {
  tools: {
    // @ts-expect-error the arguments have a different type
    weather: async ({ city }: { city: number }) => city,
  },
})
typed<Promise<RunJob>>(latitude.prompts.run<'text', object, true>('a', { background: true }))
typed<Promise<RunJob>>(latitude.prompts.run('a', { background: true as const }))
// @ts-expect-error the result is undefined after onError
latitude.prompts.run('a').then((result) => result.uuid)

latitude.prompts.run('a', {
  onEvent: ({ event, data, id, type }) => {
    typed<string[]>([id, type])
    if (event === StreamEventTypes.Latitude && data.type === ChainEventTypes.ChainCompleted) typed<number>(data.cost)
    if (event === StreamEventTypes.Provider && data.type === 'text-delta') typed<string>(data.textDelta)
  },
  onFinished: (result) => typed<string>(result.response.text),
  onError: (error) => {
    typed<LatitudeApiError>(error)
    typed<[number, string, string]>([error.status, error.errorCode, error.serverResponse])
  },
})

latitude.prompts.chat('u', [{ role: MessageRole.user, content: [{ type: ContentType.text, text: 'Hi' }] }], {
  stream: true,
})
latitude.prompts.render({ prompt: { content: 'x' }, parameters: {}, adapter: Adapters.openai })
latitude.prompts.renderChain<{ role: string; content: string }>({
  prompt: { path: 'a', content: 'x', provider: 'openai' },
  parameters: {},
  adapter: Adapters.openai,
  logResponses: true,
  onStep: async ({ config, messages }) => {
    typed<unknown>(config['model'])
    return { content: messages.map(({ content }) => content).join() }
  },
  tools: { weather: async ({ city }, { id, name }) => `${city} ${id} ${name}` },
})
latitude.logs.create('a', [{ role: 'user', content: 'Hi' }], { response: 'x' })
latitude.evaluations.annotate('u', 1, 'e', { reason: 'r', versionUuid: 'v' })
latitude.versions.push(1, 'v', [{ path: 'a', content: '', status: 'deleted', contentHash: 'h' }])
typed<unknown>([
  latitude.versions.get(1, 'live'),
  latitude.versions.getAll(),
  latitude.versions.create('n', { projectId: 1 }),
])
typed<unknown>([latitude.runs.stop('u'), latitude.runs.attach('u', { stream: true }), latitude.prompts.delete('a')])

// The published clients export these types.
type Tools = { weather: { city: string } }
typed<ToolSpec>({ weather: { city: 'Rome' } })
const weather: ToolHandler<Tools, 'weather'> = async ({ city }, { id, toolId }) => [city, id, toolId]
const events: ChainEventDto[] = []
const spoken: Message = { role: MessageRole.user, content: [{ type: ContentType.text, text: 'Hello' }] }
const options: Options = { versionUuid: 'live', __internal: { source: LogSources.API } }
const role: MessageRole = spoken.role
typed<[MessageRole, LogSources]>([role, LogSources.Playground])
latitude.prompts.run<'text', Tools>('a', { tools: { weather }, onEvent: ({ data }) => events.push(data) })
typed<(r: GenerationResponse | undefined) => StreamChainResponse | undefined>((result) => result)
new Latitude('k', options).prompts.run<{ score: number }>('a', {
  onFinished: (result: GenerationResponse<{ score: number }>) => typed<number>(result.response.object.score),
})
typed<(made: [Project, Prompt, ToolCall, ToolCallDetails, RenderToolCallDetails, ToolCallResponse]) => string[]>(
  ([project, prompt, call, { toolName }, { name }, response]) => [
    project.name,
    prompt.path,
    call.id,
    toolName,
    name,
    response.id,
  ],
)
typed<(instrumentation: Instrumentation) => void>(Latitude.instrument)
