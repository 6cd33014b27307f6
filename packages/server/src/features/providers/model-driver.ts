/** The port to model providers: takes a request with stet's messages and hands out batches of chunks as they arrive. */
import type { FinishReason } from '@stet/contract/vocabulary'
import type { Message } from '../templates/message.ts'
import type { Usage } from './usage.ts'

/** The parts of a provider key that calls depend on. The token is clear text and must not leave the process. */
export interface ProviderSettings {
  /** The name that prompts use. */
  name: string
  /** The kind on the wire, e.g. `openai`; `custom` for the demo provider. */
  kind: string
  isDemo: boolean
  token: string
  url: string | null
  defaultModel: string | null
  configuration: Record<string, unknown>
  /** The operator configured the address with an environment variable, so it may be private. */
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
  /** JSON Schema of a structured answer. */
  schema?: Record<string, unknown>
  /** False requests one plain response. Its chunks are the same, in one batch. */
  stream: boolean
  maxRetries: number
  signal: AbortSignal
}

/** Data that a provider expects back unchanged with a part of its response. Other provider keys cannot use it. */
export interface PartSeal {
  signature?: string
  /** The name of the provider key. */
  provider: string
}

export interface GeneratedFile {
  url: string
  mimeType: string
}

export type ModelChunk =
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string; id?: string }
  /** Ends a part of reasoning, which may have had no visible text. */
  | { type: 'reasoning-end'; id?: string; seal: PartSeal }
  /** Reasoning that only its provider can read. */
  | { type: 'redacted-reasoning'; data: string; provider: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  /** `id` is the provider's own. `args` is undefined if `rawArgs` is not a JSON object. */
  | {
      type: 'tool-call'
      id: string
      toolName: string
      args: Record<string, unknown> | undefined
      rawArgs: string
      seal?: PartSeal
    }
  | { type: 'source'; payload: Record<string, unknown> }
  /** A generated file: an address, or its content as a data URL. */
  | ({ type: 'file' } & GeneratedFile)
  /** `cacheWriteTokens` are part of the input. `servedModel` is set if the request named the model differently. */
  | { type: 'finish'; finishReason: FinishReason; usage: Usage; cacheWriteTokens?: number; servedModel?: string }

/** Takes the chunks of one read together, in the same event-loop turn. Reading pauses while the result is pending. */
export type TakeChunks = (chunks: ModelChunk[]) => Promise<void> | undefined

/** Calls models with one provider key. */
export interface ModelDriver {
  /**
   * Sends one request and hands its chunks to `take`, `finish` last. Retries only before the first byte.
   * @throws ProviderError; the signal's reason after an abort; any error of `take`.
   */
  call(request: ModelRequest, take: TakeChunks): Promise<void>
}

export interface ModelDrivers {
  /** @throws RunError `ai_provider_config_error` for settings that name no usable address or protocol. */
  driverFor(provider: ProviderSettings): ModelDriver
}
