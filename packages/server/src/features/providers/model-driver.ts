/** The port to model providers. A driver sends stet's messages and passes on the response as batches of chunks. */
import type { FinishReason, Message } from '@stet/contract/vocabulary'
import type { ToolDefinition } from '@stet/template/config'
import type { ProviderKey } from './provider-key.ts'
import type { Usage } from './usage.ts'

/** A provider's settings for model calls. `token` is clear text and must be sent only to the provider. */
export interface ProviderSettings extends Pick<ProviderKey, 'name' | 'url' | 'defaultModel' | 'configuration'> {
  /** The kind on the wire, for example `openai`. The demo provider uses `custom`. */
  kind: string
  isDemo: boolean
  token: string
  /** True if the operator set `url` in an environment variable. This address may be private. */
  trustedAddress: boolean
}

export type { FinishReason, ToolDefinition }

export interface ModelRequest {
  model: string
  messages: Message[]
  /** Effective configuration: known keys in camel case, unknown keys unchanged. */
  settings: Record<string, unknown>
  tools: ToolDefinition[]
  /** JSON Schema for a structured answer. */
  schema?: Record<string, unknown>
  /** False requests one plain response. Its chunks arrive in one batch, unless the service sends a stream anyway. */
  stream: boolean
  maxRetries: number
  signal: AbortSignal
  /** The W3C header of a traced call. Sent to the provider. */
  traceparent?: string
  /** Called with the size of a large plain response before the response is decoded. */
  holdAnswer?: (bytes: number) => Promise<void>
}

export interface HeldAnswer {
  conversationUuid: string
  workspaceId: number
  bytes: number
}

/** A provider's complete answer waits here before it is decoded, because its run makes several copies of it. */
export interface LargeAnswers {
  /** Resolves when the answer may be decoded, or after an abort. The run's end releases it. */
  hold(answer: HeldAnswer, signal: AbortSignal): Promise<void>
  release(conversationUuid: string): void
}

/** Marks the origin of a response part. `signature` is sent back unchanged, only with the same provider key. */
export interface PartSeal {
  signature?: string
  /** The provider key's name. */
  provider: string
}

export interface GeneratedFile {
  url: string
  mimeType: string
}

/** `usage` counts `cacheWriteTokens` as input. `servedModel` is the model behind a deployment, if known. */
export interface CountedUsage {
  usage: Usage
  cacheWriteTokens?: number
  servedModel?: string
}

export type ModelChunk =
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string; id?: string }
  /** Ends a reasoning part, which may have no visible text. */
  | { type: 'reasoning-end'; id?: string; seal: PartSeal }
  /** Reasoning that only its provider can read. */
  | { type: 'redacted-reasoning'; data: string; provider: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  /**
   * `id` comes from the provider, or from the driver if the provider sends none. `args` is undefined if `rawArgs` is
   * not a JSON object or cannot be stored unchanged.
   */
  | {
      type: 'tool-call'
      id: string
      toolName: string
      args: Record<string, unknown> | undefined
      rawArgs: string
      seal?: PartSeal
    }
  | { type: 'source'; payload: Record<string, unknown> }
  /** A generated file. `url` may be a data URL. */
  | ({ type: 'file' } & GeneratedFile)
  | ({ type: 'finish'; finishReason: FinishReason } & CountedUsage)
  /** The tokens that the service had counted before a failure or an abort of an answer that had begun. Often none. */
  | ({ type: 'usage' } & CountedUsage)

/** Receives one batch of chunks. The driver pauses while the returned promise is pending. */
export type TakeChunks = (chunks: ModelChunk[]) => Promise<void> | undefined

export interface ModelDriver {
  /**
   * Makes one model call and passes its chunks to `take`, the chunk `finish` last. Before a failure, the last chunk is
   * `usage` if a response with a success status has started. Retries only until a response with a success status starts.
   * @throws ProviderError for a failed call; the signal's reason after an abort; any error of `take`.
   */
  call(request: ModelRequest, take: TakeChunks): Promise<void>
  /** Removes the provider's token and other secrets from a text of the provider, and truncates the text. */
  scrubbed(text: string): string
}

export interface ModelDrivers {
  /** @throws RunError `ai_provider_config_error` for settings without a usable address or protocol. */
  driverFor(provider: ProviderSettings): ModelDriver
}
