/** Code that an application may write with each of the other entries. */

import type * as ai from '../../src/ai/index.ts'
import type { UIMessageChunk } from '../../src/ai/index.ts'
import type * as browser from '../../src/browser/index.ts'
import type * as evals from '../../src/eval/index.ts'
import type {
  ApiError,
  ApiPromise,
  AsyncIterableStream,
  Change,
  Evaluations,
  Logs,
  Message,
  Project,
  Prompt,
  RunResult,
  RunStream,
  Runs,
  Scope,
  Stet,
  StreamCallbacks,
  StreamEvent,
  Version,
} from '../../src/index.ts'
import type * as latitude from '../../src/latitude/index.ts'
import type * as render from '../../src/render/index.ts'
import type * as testing from '../../src/testing/index.ts'

declare function fits<Designed>(built: Designed): void
declare const built: {
  ai: typeof ai
  browser: typeof browser
  evals: typeof evals
  latitude: typeof latitude
  render: typeof render
  testing: typeof testing
  client: latitude.Latitude
}
const { client } = built
interface Shape {
  score: number
  [key: string | symbol]: unknown
}

fits<
  (prompt: render.Source, o?: render.RenderOptions) => Promise<{ config: Record<string, unknown>; messages: Message[] }>
>(built.render.render)
fits<render.AdapterName>('openaiResponses')
fits<(s: RunStream | RunStream<Shape>) => AsyncIterableStream<UIMessageChunk>>(built.ai.toUIMessageStream)
fits<(s: RunStream, init?: ResponseInit) => Response>(built.ai.toUIMessageStreamResponse)
fits<
  (replies: Record<string, testing.MockReply>) => Stet & { readonly calls: readonly testing.MockCall[]; reset(): void }
>(built.testing.createMockStet)
interface Support {
  'support/reply': { parameters: { ticket: string } }
}
fits<Stet<Support>>(built.testing.createMockStet<Support>({}))
fits<testing.MockReply[]>([
  'text',
  { uuid: 'u', cost: 1 },
  [] as readonly StreamEvent[],
  new Error('x'),
  (call) => call.operation,
])
fits<
  (text: string | readonly string[], o?: { uuid?: string; error?: { code: string; message: string } }) => StreamEvent[]
>(built.testing.events)
fits<(e: readonly StreamEvent[], o?: { dropAfter?: number; chunkBytes?: number; ids?: boolean }) => Response>(
  built.testing.sseResponse,
)
fits<(file: string, o?: { mode?: 'record' | 'replay' | 'auto'; fetch?: typeof fetch }) => typeof fetch>(
  built.testing.recordFetch,
)
fits<
  (
    url: string,
    o?: StreamCallbacks & {
      body?: unknown
      headers?: Record<string, string>
      credentials?: RequestCredentials
      signal?: AbortSignal
      attachUrl?: string | ((uuid: string) => string)
      resume?: boolean
    },
  ) => RunStream
>(built.browser.openRun)
fits<RunStream<Shape>>(built.browser.openRun<Shape>('/x'))
// @ts-expect-error a page has no API key
built.browser.openRun('/x', { apiKey: 'k' })
fits<typeof RunStream>(built.browser.RunStream)
fits<(definition: evals.EvalDefinition, args: evals.ScorerArgs) => Promise<evals.ScorerVerdict[]>>(
  built.evals.runScorers,
)
fits<evals.EvalDefinition>(built.evals.defineEval('support/reply', { scorers: { one: () => true } }))

fits<Stet>(client.stet)
fits<(o?: Scope) => ApiPromise<Prompt[]>>(client.prompts.getAll)
fits<(uuid: string, messages: Message[]) => ApiPromise<RunResult | undefined>>(client.prompts.chat)
fits<(projectId: number, versionUuid: string) => ApiPromise<Version>>(client.versions.get)
fits<(projectId?: number) => ApiPromise<Version[]>>(client.versions.getAll)
fits<(projectId: number, uuid: string, changes: readonly Change[]) => ApiPromise<{ commitUuid: string }>>(
  client.versions.push,
)
fits<{ getAll(): ApiPromise<Project[]>; create(name: string): ApiPromise<{ project: Project; version: Version }> }>(
  client.projects,
)
fits<Pick<Runs, 'attach' | 'stop'>>(client.runs)
fits<Pick<Evaluations, 'annotate'>>(client.evaluations)
fits<Logs>(client.logs)
fits<typeof ApiError>(built.latitude.LatitudeApiError)
fits<{ readonly API: 'api'; readonly Playground: 'playground'; readonly Evaluation: 'evaluation' }>(
  built.latitude.LogSources,
)
fits<{ readonly default: 'default'; readonly openai: 'openai'; readonly anthropic: 'anthropic' }>(
  built.latitude.Adapters,
)
fits<'integration-waking-up'>(built.latitude.ChainEventTypes.IntegrationWakingUp)
fits<'tool-result'>(built.latitude.ContentType.toolResult)
fits<'developer'>(built.latitude.MessageRole.developer)
fits<'provider-event'>(built.latitude.StreamEventTypes.Provider)
