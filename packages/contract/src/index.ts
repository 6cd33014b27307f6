export { CAUSES_OUTSIDE_ROUTES, causesOf, readsBody } from './causes-of.ts'
export {
  ContentHash,
  DocumentPath,
  Id,
  KeyScope,
  LIMITS,
  PromptText,
  type RawResponse,
  Timestamp,
  Uuid,
} from './common.ts'
export { type Contract, contract, listRoutes, type Route } from './contract.ts'
export { ERROR_STATUSES, ErrorBody, type ErrorStatus, RunErrorCode, STATUS_BY_CODE, statusOf } from './errors.ts'
export { type OperatorRoute, type OperatorRouteName, operatorRoutes } from './operator-routes.ts'
export { API_PREFIX, type RouteMetadata, routes } from './routes.ts'
export { ApiKey, CreateApiKeyBody, CreatedApiKey, KeyPlan, Me, RotateApiKeyBody } from './schemas/api-keys.ts'
export {
  Conversation,
  ConversationOrigin,
  ConversationPage,
  ConversationSummary,
  DeletedConversation,
  EraseConversationsQuery,
  ErasedConversations,
  ListConversationsQuery,
} from './schemas/conversations.ts'
export {
  CompileIssue,
  CreateDocumentBody,
  CreateOrUpdateDocumentBody,
  DeletedDocument,
  Document,
  DocumentParameter,
  GetOrCreateDocumentBody,
  ListDocumentsQuery,
} from './schemas/documents.ts'
export {
  AnnotateBody,
  Annotation,
  CreateEvaluationBody,
  Evaluation,
  EvaluationConfiguration,
  EvaluationMetric,
  ListEvaluationsQuery,
} from './schemas/evaluations.ts'
export { CreateLogBody, LogEntry, Span } from './schemas/logs.ts'
export {
  FilePart,
  ImagePart,
  Message,
  MessageInput,
  MessagePart,
  ReasoningPart,
  RedactedReasoningPart,
  Role,
  TextPart,
  ToolCall,
  ToolCallPart,
  ToolResultPart,
} from './schemas/messages.ts'
export {
  CreatedProject,
  CreateProjectBody,
  DeletedProject,
  DeleteProjectBody,
  Project,
  UpdateProjectBody,
} from './schemas/projects.ts'
export {
  CreateProviderKeyBody,
  ProviderKey,
  ProviderKind,
  UpdateProviderKeyBody,
} from './schemas/provider-api-keys.ts'
export { LatitudeEvent, ProviderEvent, RunEvent, RunFailure, ToolSource } from './schemas/run-events.ts'
export {
  AttachBody,
  BackgroundRun,
  ChatBody,
  FinishReason,
  ObjectResponse,
  RunDocumentBody,
  RunResponse,
  RunResult,
  RunSource,
  RunState,
  StopResult,
  TextResponse,
  Usage,
} from './schemas/runs.ts'
export { ToolResultBody, ToolResultTaken } from './schemas/tools.ts'
export {
  Change,
  ChangeStatus,
  CreateVersionBody,
  DiffSide,
  DiffVersionsQuery,
  ImportVersionBody,
  ListVersionsQuery,
  PublishVersionBody,
  PushChangesBody,
  PushResult,
  RevertResult,
  RevertVersionBody,
  Version,
  VersionDiff,
  VersionStatus,
} from './schemas/versions.ts'
export { type CauseEntry, ERROR_CAUSES, type ErrorCause } from './vocabulary/error-causes.ts'
