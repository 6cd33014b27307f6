/** The port to AI providers: a request in stet's own message form in, batches of chunks out, handed on as they come. */
import type { Message } from '../templates/message.ts'
import type { Usage } from './usage.ts'

/** A usable provider entry: its token is clear text and lives for this call only. */
export interface ResolvedProvider {
  /** The name under which prompts find it. */
  name: string
  /** The kind on the wire, e.g. `openai`. */
  kind: string
  /** Which driver serves it; differs from `kind` for `demo` only, whose kind on the wire is `custom`. */
  driver: string
  token: string
  url: string | null
  defaultModel: string | null
  configuration: Record<string, unknown>
  /** The operator gave the address by environment variable: private addresses are allowed. */
  trustedAddress: boolean
}

export interface ToolDefinition {
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
}

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other' | 'unknown'

export interface ModelRequest {
  provider: ResolvedProvider
  model: string
  messages: Message[]
  /** Effective configuration in camel case: sampling keys and those that are passed on unchanged. */
  settings: Record<string, unknown>
  tools: ToolDefinition[]
  /** JSON Schema of a structured answer. */
  schema?: Record<string, unknown>
  /** False asks the provider for one plain answer; the chunks are the same, in one batch. */
  stream: boolean
  maxRetries: number
  signal: AbortSignal
}

/** What a provider wants back unchanged with a part of its answer; it means nothing to any other entry. */
export interface PartSeal {
  signature?: string
  /** The name of the entry that made it. */
  provider: string
}

export interface GeneratedFile {
  url: string
  mimeType: string
}

export type ModelChunk =
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string; id?: string }
  /** Ends a stretch of reasoning, which may have shown no text. */
  | { type: 'reasoning-end'; id?: string; seal: PartSeal }
  /** Reasoning that only its provider can read. */
  | { type: 'redacted-reasoning'; data: string; provider: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  /** `id` is the provider's own; `args` is undefined when the arguments are not a JSON object (`rawArgs` then tells them). */
  | {
      type: 'tool-call'
      id: string
      toolName: string
      args: Record<string, unknown> | undefined
      rawArgs: string
      seal?: PartSeal
    }
  | { type: 'source'; payload: Record<string, unknown> }
  /** Something that the model made: an address, or its content as a data URL. */
  | ({ type: 'file' } & GeneratedFile)
  /**
   * `cacheWriteTokens` are part of the input and have a price of their own; `servedModel` is told where the model was
   * asked for under another name.
   */
  | { type: 'finish'; finishReason: FinishReason; usage: Usage; cacheWriteTokens?: number; servedModel?: string }

/** Takes all chunks of one read together, within the turn that read them. While what it returns is pending nothing is read. */
export type TakeChunks = (chunks: ModelChunk[]) => Promise<void> | undefined

/** Hands out chunks, `finish` last; settles when all were taken, and rejects with what `take` failed with. */
export type ChunkSource = (take: TakeChunks) => Promise<void>

/**
 * One model call, sent when its source is used. Retries only before the first byte.
 * @throws ProviderError; after an abort by `signal` the signal's reason, never ends quietly.
 */
export interface ModelDriver {
  call(request: ModelRequest): ChunkSource
}

export interface ModelDrivers {
  /** @throws RunError `ai_provider_config_error` for a kind that cannot be called as configured. */
  driverFor(provider: ResolvedProvider): ModelDriver
}
