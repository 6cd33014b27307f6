import type { IsText, OutputKind } from './registry.ts'

/** Who wrote a message. */
export type Role = 'system' | 'user' | 'assistant' | 'tool' | 'developer'

/**
 * One part of a message. Images and files are URLs, data URLs or base64 text.
 *
 * @example { type: 'text', text: 'Hello' }
 */
export type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'image'; image: string; mimeType?: string }
  | { type: 'file'; file: string; mimeType: string }
  | { type: 'reasoning'; text: string; id?: string }
  | { type: 'redacted-reasoning'; data: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; args: Record<string, unknown> }
  | { type: 'tool-result'; toolCallId: string; toolName: string; result: unknown; isError?: boolean }

/**
 * A message of a conversation. Everything the service returns can be sent back; returned `content` is always parts.
 *
 * @example { role: 'user', content: 'Where is my order?' }
 */
export interface Message {
  role: Role
  content: string | ContentPart[]
  [extra: string]: unknown
}

/** A tool that the model asked for. */
export interface ToolCall {
  id: string
  name: string
  arguments: Record<string, unknown>
}

/** Token counts; `promptTokens` equals `inputTokens`, and `completionTokens` equals `outputTokens`. */
export interface Usage {
  promptTokens: number
  completionTokens: number
  totalTokens: number
  inputTokens: number
  outputTokens: number
  reasoningTokens: number
  cachedInputTokens: number
}

/** Why the model stopped. */
export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other' | 'unknown'

/** What an API key may do; `admin` includes the others. */
export type KeyScope = 'read' | 'run' | 'write' | 'publish' | 'admin'

/** The request allowance of an API key. */
export type KeyPlan = 'hobby' | 'team' | 'enterprise' | 'custom'

/** One reason why a prompt does not compile, with its place in the text. */
export interface CompileIssue {
  code: string
  message: string
  line: number
  column: number
  frame: string
}

/** A prompt as one version holds it. `content` is the text exactly as stored. */
export interface Prompt {
  id: number
  documentUuid: string
  /** The same value as `documentUuid`. */
  uuid: string
  path: string
  projectId: number
  commitId: number
  /** The version that was addressed: the real uuid, also for `live`. */
  versionUuid: string
  content: string
  /** Without comments, references inlined. */
  resolvedContent: string
  /** SHA-256 of `content`, lower-case hex. */
  contentHash: string
  /** The parsed front matter. */
  config: Record<string, unknown> & { provider?: string; model?: string }
  parameters: Record<string, { type: 'text' | 'image' | 'file'; [extra: string]: unknown }>
  provider?: string
  /** Empty when the prompt compiles. */
  errors: CompileIssue[]
  createdAt: string
  updatedAt: string
  mergedAt: string | null
  deletedAt: string | null
}

/** A prompt and where it came from. */
export interface FetchedPrompt extends Prompt {
  readonly source: 'network' | 'cache' | 'stale' | 'fallback'
  /** Epoch milliseconds. */
  readonly fetchedAt: number
}

/** A version of a project: a draft, or merged and numbered by its publication. */
export interface Version {
  id: number
  uuid: string
  projectId: number
  /** The name; `title` is the same value. */
  message: string
  title: string
  description: string | null
  version: number | null
  status: 'draft' | 'merged'
  isLive: boolean
  parentCommitUuid: string | null
  authorName: string
  authorEmail: string
  authorId: number
  /** `authorId` as text. */
  userId: string
  mainDocumentUuid: null
  createdAt: string
  updatedAt: string
  mergedAt: string | null
  deletedAt: string | null
}

/**
 * One entry of a push. `content` belongs to `added` and `modified`.
 *
 * @example { path: 'support/reply', status: 'modified', content: 'Hello {{ name }}' }
 */
export interface Change {
  path: string
  content?: string
  status: 'added' | 'modified' | 'deleted' | 'unchanged'
  contentHash?: string
  /** The hash that the version must hold there now; an empty string: no prompt may exist at the path. */
  baseHash?: string
  /** The hash of live's text that this change was merged with; an empty string: live has no such prompt. Drafts only. */
  liveHash?: string
}

/** What a push applied. */
export interface PushResult {
  commitUuid: string
  versionUuid: string
  documentsProcessed: number
  added: number
  modified: number
  deleted: number
}

/** What a revert dropped from a draft. */
export interface RevertResult {
  versionUuid: string
  reverted: { path: string; documentUuid: string; action: 'restored' | 'reset' | 'removed' }[]
}

/** One side of a changed prompt. */
export interface DiffSide {
  content: string
  contentHash: string
}

/** The changes from one version to another, ordered by path. */
export interface VersionDiff {
  base: string | null
  head: string
  changes: {
    path: string
    documentUuid: string
    status: 'added' | 'modified' | 'deleted'
    before: DiffSide | null
    after: DiffSide | null
    /** True when publishing this draft would meet a newer change of the live version. */
    conflict: boolean
  }[]
}

interface ResponseBase {
  text: string
  usage: Usage
  toolCalls: ToolCall[]
  /** US dollars, 0 when unknown. */
  cost: number
  model: string
  provider: string
  reasoning?: string
  finishReason: FinishReason
  documentLogUuid: string
  input: Message[]
  output: Message[]
}

/** The answer of the last model step. `object` is present exactly for prompts with a `schema`. */
export type RunResponse<O extends OutputKind = 'text'> =
  IsText<O> extends true
    ? ResponseBase & { streamType: 'text'; object?: undefined }
    : ResponseBase & { streamType: 'object'; object: O }

/** An answer whose kind is not known at compile time. */
export type AnyRunResponse = RunResponse<'text'> | RunResponse<unknown>

/** The end of a run: the whole conversation, the last answer, and the sums over all steps. */
export interface RunResult<O extends OutputKind = 'text'> {
  /** The conversation; continue it with `prompts.chat(uuid, …)`. */
  uuid: string
  conversation: Message[]
  response: RunResponse<O>
  /** Tool calls that wait for the caller. */
  toolRequests: ToolCall[]
  source: { documentUuid: string; commitUuid: string }
  tokenUsage: Usage
  cost: number
}

/** The state of the latest run of a conversation. */
export type RunState = 'queued' | 'running' | 'completed' | 'error' | 'stopped'

/** How a conversation came into being. */
export type ConversationOrigin = 'run' | 'background' | 'log'

/** The answer to a stop. */
export interface StopResult {
  uuid: string
  /** This call stopped a run. */
  stopped: boolean
  status: RunState
}

/** A stored conversation. */
export interface Conversation {
  uuid: string
  conversation: Message[]
  source: { documentUuid: string; commitUuid: string }
  status: RunState
  error: { errorCode: string; message: string } | null
  toolRequests: ToolCall[]
  projectId: number
  versionUuid: string
  documentUuid: string
  path: string
  /** That of the prompt as it ran. */
  contentHash: string
  customIdentifier: string | null
  origin: ConversationOrigin
  tokenUsage: Usage
  cost: number
  createdAt: string
  updatedAt: string
  endedAt: string | null
}

/** A conversation as lists show it, without its messages. */
export type ConversationSummary = Omit<Conversation, 'conversation'>

/** A way for people to score conversations. */
export interface Evaluation {
  uuid: string
  projectId: number
  /** null: every prompt of the project. */
  documentUuid: string | null
  name: string
  description: string | null
  type: 'human'
  metric: 'binary' | 'rating'
  configuration: Record<string, unknown>
  createdAt: string
  updatedAt: string
}

/**
 * What makes an evaluation. Ratings and thresholds belong to the metric `rating`, whose range is 1 to 5 by default.
 *
 * @example { name: 'Helpful', metric: 'rating', configuration: { minThreshold: 4 } }
 */
export interface EvaluationInput {
  /** Else every prompt of the project. */
  documentUuid?: string
  name: string
  description?: string
  metric: 'binary' | 'rating'
  configuration?: {
    reverseScale?: boolean
    minRating?: number
    maxRating?: number
    minThreshold?: number
    maxThreshold?: number
    [extra: string]: unknown
  }
}

/** The score that somebody gave a conversation. */
export interface Annotation {
  uuid: string
  /** As it was sent. */
  score: number
  /** 0 to 100; 100 is best, whatever the scale. */
  normalizedScore: number
  metadata: Record<string, unknown>
  hasPassed: boolean
  error: string | null
  versionUuid: string
  conversationUuid: string
  evaluationUuid: string
  createdAt: string
  updatedAt: string
}

/** Where a log comes from. */
export type LogSource = 'api' | 'playground' | 'evaluation' | (string & {})

/** A recorded execution; its `uuid` is that of its conversation. */
export interface LogEntry {
  id: number
  uuid: string
  documentUuid: string
  /** The id of the version. */
  commitId: number
  resolvedContent: string
  contentHash: string
  parameters: Record<string, unknown>
  customIdentifier: string | null
  /** Milliseconds. */
  duration: number | null
  source: LogSource
  createdAt: string
  updatedAt: string
  promptSpan: { id: string; traceId: string }
  completionSpan: { id: string; traceId: string }
}

/** A project: prompts and their versions. */
export interface Project {
  id: number
  name: string
  workspaceId: number
  liveVersionUuid: string | null
  defaultProvider: string | null
  defaultModel: string | null
  /** Days after which ended conversations are deleted; null: the setting of the server counts. */
  retentionDays: number | null
  lastEditedAt: string
  createdAt: string
  updatedAt: string
  deletedAt: null
}

/** Used at run time by prompts that name none. An empty string clears a default. */
export interface ProjectDefaults {
  defaultProvider?: string
  defaultModel?: string
}

/** An API key without its secret. */
export interface ApiKeyInfo {
  id: number
  name: string
  prefix: string
  scopes: KeyScope[]
  projectId: number | null
  plan: KeyPlan
  /** Requests per second. */
  limit: number
  author: { id: number; name: string; email: string }
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string | null
  revokedAt: string | null
}

/** A provider entry; `token` is masked. Entries with id 0 come from the server's own settings. */
export interface ProviderKeyInfo {
  id: number
  name: string
  provider: string
  token: string
  url: string | null
  defaultModel: string | null
  configuration: Record<string, unknown>
  createdAt: string
  updatedAt: string
  lastUsedAt: string | null
}

/** The key in use, its workspace and allowance. */
export interface Me {
  apiKey: ApiKeyInfo
  workspace: { id: number; name: string }
  rateLimit: { limit: number; windowSeconds: number }
  features: string[]
}

/** The server's own report. */
export interface Health {
  status: 'ok'
  version: string
  features: string[]
}
