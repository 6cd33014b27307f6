export { ApiKey, apiKeys, CreateApiKeyBody, CreatedApiKey, KeyPlan, Me, RotateApiKeyBody } from './api-keys.ts'
export { causesOf, readsBody } from './causes-of.ts'
export {
  API_PREFIX,
  ContentHash,
  DocumentPath,
  Id,
  KeyScope,
  LIMITS,
  PromptText,
  type ResponseTap,
  type RouteMetadata,
  Timestamp,
  Uuid,
} from './common.ts'
export { type Contract, contract, listRoutes, type Route } from './contract.ts'
export {
  Conversation,
  ConversationOrigin,
  ConversationPage,
  ConversationSummary,
  conversations,
  DeletedConversation,
  EraseConversationsQuery,
  ErasedConversations,
  ListConversationsQuery,
  RunState,
} from './conversations.ts'
export {
  CompileIssue,
  CreateDocumentBody,
  CreateOrUpdateDocumentBody,
  DeletedDocument,
  Document,
  DocumentParameter,
  documents,
  GetOrCreateDocumentBody,
  ListDocumentsQuery,
} from './documents.ts'
export { ERROR_CAUSES, type ErrorCause } from './error-causes.ts'
export { ERROR_STATUSES, ErrorBody, ErrorCode, type ErrorStatus, RunErrorCode } from './errors.ts'
export {
  AnnotateBody,
  Annotation,
  CreateEvaluationBody,
  Evaluation,
  EvaluationConfiguration,
  EvaluationMetric,
  evaluations,
  ListEvaluationsQuery,
} from './evaluations.ts'
export { CreateLogBody, LogEntry, logs, Span } from './logs.ts'
export { MessageInput } from './message-input.ts'
export {
  FilePart,
  ImagePart,
  Message,
  MessagePart,
  ReasoningPart,
  RedactedReasoningPart,
  Role,
  TextPart,
  ToolCall,
  ToolCallPart,
  ToolResultPart,
} from './messages.ts'
export { type OperationName, type OperationRoute, operations } from './operations.ts'
export {
  CreatedProject,
  CreateProjectBody,
  DeletedProject,
  DeleteProjectBody,
  Project,
  projects,
  UpdateProjectBody,
} from './projects.ts'
export {
  CreateProviderKeyBody,
  ProviderKey,
  ProviderKind,
  providerApiKeys,
  UpdateProviderKeyBody,
} from './provider-api-keys.ts'
export { LatitudeEvent, ProviderEvent, RunEvent, RunFailure, ToolSource } from './run-events.ts'
export {
  BackgroundRun,
  FinishReason,
  ObjectResponse,
  RunResponse,
  RunResult,
  RunSource,
  TextResponse,
  Usage,
} from './run-result.ts'
export { AttachBody, ChatBody, RunDocumentBody, runs, StopResult } from './runs.ts'
export { ToolResultBody, ToolResultTaken, tools } from './tools.ts'
export {
  Change,
  ChangeStatus,
  CreateVersionBody,
  DiffSide,
  DiffVersionsQuery,
  ListVersionsQuery,
  PublishVersionBody,
  PushChangesBody,
  PushResult,
  RevertResult,
  RevertVersionBody,
  Version,
  VersionDiff,
  VersionStatus,
  versions,
} from './versions.ts'
