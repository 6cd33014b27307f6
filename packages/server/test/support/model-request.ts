import { type OpenaiService, openaiService } from '../../src/adapters/providers/openai/kinds.ts'
import type {
  ModelChunk,
  ModelDriver,
  ModelRequest,
  ProviderSettings,
  TakeChunks,
} from '../../src/features/providers/model-driver.ts'

/** Sends a model call and passes its chunks to `take`. */
type ChunkSource = (take: TakeChunks) => Promise<void>

export type TestRequest = ModelRequest & { provider: ProviderSettings }

export function providerAt(url: string | null, more: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    name: 'OpenAI',
    kind: 'openai',
    isDemo: false,
    token: 'test-token-123',
    url,
    defaultModel: null,
    configuration: {},
    trustedAddress: true,
    ...more,
  }
}

export function modelRequest(url: string | null, more: Partial<TestRequest> = {}): TestRequest {
  return {
    provider: providerAt(url),
    model: 'gpt-4o',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    settings: {},
    tools: [],
    stream: true,
    maxRetries: 2,
    signal: new AbortController().signal,
    ...more,
  }
}

/** Adds a URL for provider kinds that have no default one. */
export function serviceOf(provider: ProviderSettings): OpenaiService {
  const needsUrl = ['azure', 'custom', 'google_vertex'].includes(provider.kind) && provider.url === null
  return openaiService(needsUrl ? { ...provider, url: 'http://models.test/v1' } : provider)
}

export function callOf(driver: ModelDriver, request: ModelRequest): ChunkSource {
  return (take) => driver.call(request, take)
}

export async function batchesOf(source: ChunkSource): Promise<ModelChunk[][]> {
  const batches: ModelChunk[][] = []
  await source((batch) => void batches.push(batch))
  return batches
}

/** @param into also contains the chunks before a failure. */
export async function chunksOf(source: ChunkSource, into: ModelChunk[] = []): Promise<ModelChunk[]> {
  await source((batch) => void into.push(...batch))
  return into
}

export async function failureOf(source: ChunkSource, into: ModelChunk[] = []): Promise<unknown> {
  try {
    await chunksOf(source, into)
  } catch (error) {
    return error
  }
  throw new Error('The call did not fail')
}

export function textOf(chunks: readonly ModelChunk[]): string {
  return chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.text : '')).join('')
}
