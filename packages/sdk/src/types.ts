import type {
  ApiKey,
  Conversation as ConversationBody,
  CreateEvaluationBody,
  CreateProjectBody,
  Document,
  DocumentCheck,
  EvaluationConfiguration,
  Example as ExampleBody,
  ListedRun as ListedRunBody,
  LogEntry as LogEntryBody,
  Me as MeBody,
  MergedDocument,
  MessageInput,
  MessagePart,
  Provider as ProviderBody,
  ProviderKey,
  ProviderTest as ProviderTestBody,
  PushResult,
  Run as RunBody,
  RunDetails as RunDetailsBody,
  RunResult as RunResultBody,
  TextResponse,
  Version as VersionBody,
  VersionTree as VersionTreeBody,
} from '@stet/contract/vocabulary'
import type { IsText, OutputKind } from './registry.ts'

// The contract defines the wire types. Some types below are wider, so that compiled code also works with a newer
// server. New codes and providers are plain strings, and any message from the server can be sent back.
export type {
  AddedScores,
  AddScoresBody,
  Agreement,
  Annotation,
  CannedResult,
  Change,
  ChangedExamples,
  ChangeExamplesBody,
  Check,
  CompileIssue,
  ConversationNote,
  ConversationOrigin,
  CreateExperimentBody,
  DiffSide,
  Environment,
  ErrorReason,
  Evaluation,
  ExampleChange,
  ExampleSummary,
  Experiment,
  ExperimentArm,
  ExperimentItem,
  ExperimentItemState,
  ExperimentOrigin,
  ExperimentReason,
  ExperimentRow,
  ExperimentState,
  Feedback,
  FinishReason,
  ForcedEdit,
  Gate,
  GateSettings,
  GateVerdict,
  Health,
  ItemScore,
  KeyPlan,
  KeyScope,
  LabeledConversation,
  ListedAnnotation,
  LiveConflict,
  LocatedIssue,
  MergeRegion,
  NewExperimentArm,
  NewItemScore,
  Person,
  Project,
  PromptIssue,
  ProviderModel,
  PushResult,
  QueuePage,
  Release,
  ReleaseCheck,
  ReleaseChecks,
  ReleasedVersion,
  ReleaseFinding,
  ReleaseKind,
  RemovedLabel,
  RevertResult,
  Role,
  RollbackResult,
  RunOverrides,
  RunSpan,
  RunState,
  SavedRuns,
  SaveRunsBody,
  SkippedRun,
  Stats,
  StatsFigures,
  StatsSeries,
  StopResult,
  TagUse,
  ToolCall,
  TreeItem,
  UpdateResult,
  Usage,
  VersionDiff,
} from '@stet/contract/vocabulary'

/**
 * One part of a message. Images and files are URLs, data URLs or base64 text.
 *
 * @example { type: 'text', text: 'Hello' }
 */
export type ContentPart = MessagePart

/** One execution of a prompt, or one chat, without its messages. */
export interface Run extends Omit<RunBody, 'error'> {
  error: { errorCode: string; message: string } | null
}

/** A listed run. `parameters` and `messages` are set with `include: 'content'`. */
export interface ListedRun extends Run, Pick<ListedRunBody, 'parameters'> {
  messages?: Message[]
}

/** A run with what it was given and its spans. */
export interface RunDetails extends Run, Omit<RunDetailsBody, keyof RunBody> {}

/**
 * A conversation message. You can send back any message from a response. In a response, `content` is always a list of
 * parts.
 *
 * @example { role: 'user', content: 'Where is my order?' }
 */
export type Message = MessageInput

/** A prompt in one version. `content` is the exact stored text. */
export interface Prompt extends Omit<Document, 'config' | 'provider'> {
  config: Record<string, unknown> & { provider?: string; model?: string }
  /** Missing if no configured provider key matches. */
  provider?: string
}

/** A prompt of a list that was requested with `resolved: false`. */
export type UnresolvedPrompt = Omit<Prompt, 'resolvedContent'>

/** A text that was merged with that of a version. */
export type MergedPrompt = MergedDocument

/** A prompt at its new path. `brokenReferences` lists the prompts that refer to the old one. */
export interface MovedPrompt extends Prompt {
  brokenReferences: string[]
}

/** The result of compiling a prompt, with the messages of its first step. */
export interface PromptCheck
  extends Omit<DocumentCheck, 'config' | 'provider' | 'messages'>,
    Pick<Prompt, 'config' | 'provider'> {
  /** The messages of the first step. Null without `parameters` or with errors. */
  messages: Message[] | null
}

/** A prompt, with its origin in `source`. */
export interface FetchedPrompt extends Prompt {
  readonly source: 'network' | 'cache' | 'stale' | 'fallback'
  /** Epoch milliseconds. */
  readonly fetchedAt: number
}

/** A project version: either a draft, or a merged version with a number. */
export interface Version extends Omit<VersionBody, 'deletedAt'> {
  deletedAt: string | null
}

/** A version with the outcome of the changes that it was created with, as after a push. */
export interface CreatedVersion extends Version, Pick<PushResult, 'brokenReferences' | 'merged'> {}

/** A version's prompts without their texts, ordered by path. */
export interface VersionTree extends Omit<VersionTreeBody, 'version'> {
  version: Version
}

interface ResponseBase extends Omit<TextResponse, 'streamType' | 'provider' | 'input' | 'output'> {
  provider: string
  input: Message[]
  /** The generated messages, including tool calls and their results. */
  output: Message[]
}

/** The last step's response. `object` is set only for prompts with a `schema`. */
export type RunResponse<O extends OutputKind = 'text'> =
  IsText<O> extends true
    ? ResponseBase & { streamType: 'text'; object?: undefined }
    : ResponseBase & { streamType: 'object'; object: O }

/** The result of a run: the whole conversation, the last response, and totals over all steps. */
export interface RunResult<O extends OutputKind = 'text'> extends Omit<RunResultBody, 'conversation' | 'response'> {
  /** All messages: the prompt, the responses, the tool calls and their results. */
  conversation: Message[]
  response: RunResponse<O>
}

export interface Conversation extends Omit<ConversationBody, 'conversation' | 'error'> {
  /** The list is empty while the run is queued, and grows during the run. */
  conversation: Message[]
  error: { errorCode: string; message: string } | null
}

/** A listed conversation, without its messages. */
export type ConversationSummary = Omit<Conversation, 'conversation'>

/**
 * The fields of a new evaluation. Ratings and thresholds apply only to the metric `rating`, whose default range is 1 to
 * 5.
 *
 * @example { name: 'Helpful', metric: 'rating', configuration: { minThreshold: 4 } }
 */
export interface EvaluationInput extends Omit<CreateEvaluationBody, 'projectId' | 'configuration'> {
  configuration?: EvaluationConfiguration & { [extra: string]: unknown }
}

/** Saved inputs of a prompt. The parameters and messages can be passed to a run as they are. */
export interface Example extends Omit<ExampleBody, 'messages'> {
  messages: Message[]
}

export type LogSource = 'api' | 'playground' | 'evaluation' | (string & {})

/** A stored external log. `uuid` is its conversation's uuid. */
export interface LogEntry extends Omit<LogEntryBody, 'source'> {
  source: LogSource
}

/** The defaults for prompts that set no provider or model. An empty string clears a default. */
export type ProjectDefaults = Pick<CreateProjectBody, 'defaultProvider' | 'defaultModel'>

export type ApiKeyInfo = ApiKey

/** A provider key with a masked `token`. The id is 0 for keys from the server's environment and for `demo`. */
export interface ProviderKeyInfo extends Omit<ProviderKey, 'provider'> {
  provider: string
}

/** A provider that prompts can name, without its address and token. */
export interface Provider extends Omit<ProviderBody, 'provider'> {
  provider: string
}

/** The result of one test call to a provider. `error` is null if the call succeeded. */
export interface ProviderTest extends Omit<ProviderTestBody, 'provider' | 'error'> {
  provider: string
  error: { errorCode: string; message: string } | null
}

/** The API key in use, its workspace and its rate limit. */
export interface Me extends Omit<MeBody, 'rateLimit'> {
  rateLimit: { limit: number; windowSeconds: number }
}
