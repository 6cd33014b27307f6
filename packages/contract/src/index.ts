export { CAUSES_OUTSIDE_ROUTES, causesOf, isRefusedWhenFull, readsBody } from './causes-of.ts'
export {
  ContentHash,
  DocumentPath,
  Id,
  KeyScope,
  LIMITS,
  Person,
  PromptText,
  type RawResponse,
  Timestamp,
  Uuid,
} from './common.ts'
export {
  type ConsoleContract,
  type Contract,
  consoleContract,
  contract,
  listConsoleRoutes,
  listRoutes,
  type Route,
} from './contract.ts'
export { ERROR_STATUSES, ErrorBody, type ErrorStatus, RunErrorCode } from './errors.ts'
export { type OperatorRoute, type OperatorRouteName, operatorRoutes } from './operator-routes.ts'
export { API_PREFIX, consoleRoutes, type RouteMetadata, routes } from './routes.ts'
export { ApiKey, CreateApiKeyBody, CreatedApiKey, KeyPlan, Me, RotateApiKeyBody } from './schemas/api-keys.ts'
export {
  ConsoleSession,
  CreateSignInLinkBody,
  Session,
  SignInBody,
  SignInLink,
  SignInPreview,
} from './schemas/console.ts'
export {
  Conversation,
  ConversationOrigin,
  ConversationPage,
  ConversationSummary,
  DeletedConversation,
  EraseConversationsQuery,
  ErasedConversations,
  ListConversationsQuery,
  RequestChannel,
} from './schemas/conversations.ts'
export {
  CheckDocumentBody,
  CompileIssue,
  CreateDocumentBody,
  CreateOrUpdateDocumentBody,
  DeletedDocument,
  Document,
  DocumentCheck,
  DocumentParameter,
  GetOrCreateDocumentBody,
  ListDocumentsQuery,
  ListedDocument,
  LocatedIssue,
  PromptIssue,
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
export { CreateExampleBody, DeletedExample, Example, ListExamplesQuery, UpdateExampleBody } from './schemas/examples.ts'
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
  ProviderTest,
  TestProviderKeyBody,
  UpdateProviderKeyBody,
} from './schemas/provider-api-keys.ts'
export { ListProvidersQuery, Provider, ProviderModel } from './schemas/providers.ts'
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
  ForcedEdit,
  ImportVersionBody,
  ListVersionsQuery,
  PublishVersionBody,
  PushChangesBody,
  PushResult,
  RevertResult,
  RevertVersionBody,
  TreeItem,
  Version,
  VersionDiff,
  VersionStatus,
  VersionTree,
} from './schemas/versions.ts'
export { type CauseEntry, ERROR_CAUSES, type ErrorCause, statusOf } from './vocabulary/error-causes.ts'
