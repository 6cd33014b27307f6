/** Port to model providers. It sends stet's messages and passes on batches of chunks as they arrive. */
import type { FinishReason } from '@stet/contract/vocabulary'
import type { Message } from '../templates/message.ts'
import type { Usage } from './usage.ts'

/** The part of a provider key that affects calls. The token is clear text and must not leave the process. */
export interface ProviderSettings {
  name: string
  /** The kind on the wire, for example `openai`. The demo provider uses `custom`. */
  kind: string
  isDemo: boolean
  token: string
  url: string | null
  defaultModel: string | null
  configuration: Record<string, unknown>
  /** True if the operator set the address in an environment variable, so it may be private. */
  trustedAddress: boolean
}

export interface ToolDefinition {
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>
}

export type { FinishReason }

export interface ModelRequest {
  model: string
  messages: Message[]
  /** Effective configuration: known keys in camel case, unknown keys unchanged. */
  settings: Record<string, unknown>
  tools: ToolDefinition[]
  /** JSON Schema for a structured answer. */
  schema?: Record<string, unknown>
  /** False requests one plain response. It yields the same chunks in one batch. */
  stream: boolean
  maxRetries: number
  signal: AbortSignal
}

/** Data that a provider expects back unchanged with a response part. Only the same provider key can use it. */
export interface PartSeal {
  signature?: string
  /** The provider key's name. */
  provider: string
}

export interface GeneratedFile {
  url: string
  mimeType: string
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
  /** `id` is the provider's own id. `args` is undefined if `rawArgs` is not a JSON object. */
  | {
      type: 'tool-call'
      id: string
      toolName: string
      args: Record<string, unknown> | undefined
      rawArgs: string
      seal?: PartSeal
    }
  | { type: 'source'; payload: Record<string, unknown> }
  /** A generated file as a URL or a data URL. */
  | ({ type: 'file' } & GeneratedFile)
  /** The input tokens include `cacheWriteTokens`. `servedModel` is set if it differs from the requested model. */
  | { type: 'finish'; finishReason: FinishReason; usage: Usage; cacheWriteTokens?: number; servedModel?: string }

/** Receives all chunks of one read in one event-loop turn. Reading pauses while the returned promise is pending. */
export type TakeChunks = (chunks: ModelChunk[]) => Promise<void> | undefined

export interface ModelDriver {
  /**
   * Sends one request and passes its chunks to `take`, `finish` last. Retries only before the first byte.
   * @throws ProviderError; the signal's reason after an abort; any error of `take`.
   */
  call(request: ModelRequest, take: TakeChunks): Promise<void>
}

export interface ModelDrivers {
  /** @throws RunError `ai_provider_config_error` for settings without a usable address or protocol. */
  driverFor(provider: ProviderSettings): ModelDriver
}
