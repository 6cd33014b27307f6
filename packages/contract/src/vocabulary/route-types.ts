import type { ApiKey, CreateApiKeyBody, CreatedApiKey, Me, RotateApiKeyBody } from './resources/api-keys.ts'
import type {
  ConsoleSession,
  CreateSignInLinkBody,
  Session,
  SignInBody,
  SignInLink,
  SignInPreview,
} from './resources/console.ts'
import type {
  Conversation,
  ConversationPage,
  DeletedConversation,
  EraseConversationsQuery,
  ErasedConversations,
  ListConversationsQuery,
} from './resources/conversations.ts'
import type {
  CheckDocumentBody,
  CreateDocumentBody,
  CreateOrUpdateDocumentBody,
  DeletedDocument,
  Document,
  DocumentCheck,
  GetOrCreateDocumentBody,
  ListDocumentsQuery,
  ListedDocument,
} from './resources/documents.ts'
import type {
  AnnotateBody,
  Annotation,
  CreateEvaluationBody,
  Evaluation,
  ListEvaluationsQuery,
} from './resources/evaluations.ts'
import type {
  CreateExampleBody,
  DeletedExample,
  Example,
  ListExamplesQuery,
  UpdateExampleBody,
} from './resources/examples.ts'
import type { CreateLogBody, LogEntry } from './resources/logs.ts'
import type {
  CreatedProject,
  CreateProjectBody,
  DeletedProject,
  DeleteProjectBody,
  Project,
  UpdateProjectBody,
} from './resources/projects.ts'
import type {
  CreateProviderKeyBody,
  ProviderKey,
  ProviderTest,
  TestProviderKeyBody,
  UpdateProviderKeyBody,
} from './resources/provider-keys.ts'
import type { ListProvidersQuery, Provider } from './resources/providers.ts'
import type { AttachBody, BackgroundRun, ChatBody, RunDocumentBody, RunResult, StopResult } from './resources/runs.ts'
import type { ToolResultBody, ToolResultTaken } from './resources/tools.ts'
import type {
  CreateVersionBody,
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
  VersionTree,
} from './resources/versions.ts'

/** The query, body and successful response of every route, keyed as in the contract. */
export interface RouteTypes {
  apiKeys: {
    me: { result: Me }
    list: { result: ApiKey[] }
    create: { body: CreateApiKeyBody; result: CreatedApiKey }
    rotate: { body: RotateApiKeyBody; result: CreatedApiKey }
    revoke: { result: ApiKey }
  }
  projects: {
    list: { result: Project[] }
    create: { body: CreateProjectBody; result: CreatedProject }
    update: { body: UpdateProjectBody; result: Project }
    delete: { body: DeleteProjectBody; result: DeletedProject }
  }
  versions: {
    list: { query: ListVersionsQuery; result: Version[] }
    create: { body: CreateVersionBody; result: Version }
    get: { result: Version }
    publish: { body: PublishVersionBody; result: Version }
    push: { body: PushChangesBody; result: PushResult }
    revert: { body: RevertVersionBody; result: RevertResult }
    diff: { query: DiffVersionsQuery; result: VersionDiff }
    tree: { result: VersionTree }
    import: { body: ImportVersionBody; result: Version }
  }
  documents: {
    list: { query: ListDocumentsQuery; result: ListedDocument[] }
    create: { body: CreateDocumentBody; result: Document }
    get: { result: Document }
    getOrCreate: { body: GetOrCreateDocumentBody; result: Document }
    createOrUpdate: { body: CreateOrUpdateDocumentBody; result: Document }
    delete: { result: DeletedDocument }
    check: { body: CheckDocumentBody; result: DocumentCheck }
  }
  runs: {
    run: { body: RunDocumentBody; result: RunResult | BackgroundRun }
    chat: { body: ChatBody; result: RunResult }
    attach: { body: AttachBody; result: RunResult }
    stop: { result: StopResult }
  }
  conversations: {
    list: { query: ListConversationsQuery; result: ConversationPage }
    get: { result: Conversation }
    erase: { query: EraseConversationsQuery; result: ErasedConversations }
    delete: { result: DeletedConversation }
  }
  tools: {
    result: { body: ToolResultBody; result: ToolResultTaken }
  }
  evaluations: {
    create: { body: CreateEvaluationBody; result: Evaluation }
    list: { query: ListEvaluationsQuery; result: Evaluation[] }
    get: { result: Evaluation }
    annotate: { body: AnnotateBody; result: Annotation }
    annotations: { result: Annotation[] }
  }
  examples: {
    list: { query: ListExamplesQuery; result: Example[] }
    create: { body: CreateExampleBody; result: Example }
    update: { body: UpdateExampleBody; result: Example }
    delete: { result: DeletedExample }
  }
  logs: {
    create: { body: CreateLogBody; result: LogEntry }
  }
  providerApiKeys: {
    list: { result: ProviderKey[] }
    create: { body: CreateProviderKeyBody; result: ProviderKey }
    get: { result: ProviderKey }
    update: { body: UpdateProviderKeyBody; result: ProviderKey }
    delete: { result: ProviderKey }
    test: { body: TestProviderKeyBody; result: ProviderTest }
  }
  providers: {
    list: { query: ListProvidersQuery; result: Provider[] }
  }
}

/** The same for the routes of the console. Routes without a result answer 204. */
export interface ConsoleRouteTypes {
  signIn: { body: SignInBody; result: Session | SignInPreview }
  session: { result: Session }
  signOut: { result: never }
  sessions: { result: ConsoleSession[] }
  endSession: { result: never }
  createLink: { body: CreateSignInLinkBody; result: SignInLink }
}
