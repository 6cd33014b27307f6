import type {
  Annotation,
  AnyRunResponse,
  ApiKeyInfo,
  Change,
  Conversation,
  ConversationOrigin,
  ConversationSummary,
  Evaluation,
  EvaluationInput,
  Health,
  KeyPlan,
  KeyScope,
  LogEntry,
  Me,
  Message,
  Project,
  ProjectDefaults,
  Prompt,
  ProviderKeyInfo,
  PushResult,
  RevertResult,
  RunResult,
  RunState,
  StopResult,
  Version,
  VersionDiff,
} from './types.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Where an operation lives, and whether a failed attempt may be repeated without doing its work twice. */
export interface Route {
  method: Method
  path: string
  /** `keyed`: only under an idempotency key. */
  retry?: true | 'keyed'
  /** A DELETE that sends a body. */
  sendsBody?: true
  /** Served outside the API prefix, without a key. */
  outside?: true
}

const get = <const P extends string>(path: P) => ({ method: 'GET', path, retry: true }) as const
const put = <const P extends string>(path: P) => ({ method: 'PUT', path, retry: true }) as const
const remove = <const P extends string>(path: P) => ({ method: 'DELETE', path, retry: true }) as const
/** Honours the idempotency key: a repeated one joins or replays the first. */
const create = <const P extends string>(path: P) => ({ method: 'POST', path, retry: 'keyed' }) as const
/** Does no work twice, without a key. */
const again = <const P extends string>(path: P) => ({ method: 'POST', path, retry: true }) as const
const post = <const P extends string>(path: P) => ({ method: 'POST', path }) as const

function routes() {
  const VERSIONS = '/projects/:projectId/versions'
  const VERSION = `${VERSIONS}/:versionUuid` as const
  const DOCUMENTS = `${VERSION}/documents` as const
  const CONVERSATION = '/conversations/:conversationUuid'
  return {
    me: get('/me'),
    health: { ...get('/health'), outside: true },

    'projects.list': get('/projects'),
    'projects.create': create('/projects'),
    'projects.update': put('/projects/:projectId'),
    'projects.delete': { ...remove('/projects/:projectId'), sendsBody: true },

    'versions.list': get(VERSIONS),
    'versions.get': get(VERSION),
    'versions.create': create(VERSIONS),
    'versions.publish': create(`${VERSION}/publish`),
    'versions.push': create(`${VERSION}/push`),
    'versions.revert': create(`${VERSION}/revert`),
    'versions.diff': get(`${VERSION}/diff`),

    'prompts.list': get(DOCUMENTS),
    'prompts.create': create(DOCUMENTS),
    'prompts.get': get(`${DOCUMENTS}/:path`),
    'prompts.getOrCreate': create(`${DOCUMENTS}/get-or-create`),
    'prompts.createOrUpdate': create(`${DOCUMENTS}/create-or-update`),
    'prompts.delete': remove(`${DOCUMENTS}/:path`),
    'prompts.run': create(`${DOCUMENTS}/run`),

    'conversations.list': get('/conversations'),
    'conversations.get': get(CONVERSATION),
    'conversations.delete': remove(CONVERSATION),
    'conversations.erase': remove('/conversations'),
    'conversations.chat': create(`${CONVERSATION}/chat`),

    'runs.toolResult': again('/tools/results'),
    'runs.attach': again(`${CONVERSATION}/attach`),
    'runs.stop': post(`${CONVERSATION}/stop`),

    'evaluations.create': create('/evaluations'),
    'evaluations.list': get('/evaluations'),
    'evaluations.get': get('/evaluations/:evaluationUuid'),
    'evaluations.annotate': create(`${CONVERSATION}/evaluations/:evaluationUuid/annotate`),
    'conversations.annotations': get(`${CONVERSATION}/annotations`),

    'logs.create': create(`${DOCUMENTS}/logs`),

    'providerKeys.list': get('/provider-api-keys'),
    'providerKeys.get': get('/provider-api-keys/:id'),
    'providerKeys.create': create('/provider-api-keys'),
    'providerKeys.update': put('/provider-api-keys/:id'),
    'providerKeys.delete': remove('/provider-api-keys/:id'),

    'apiKeys.list': get('/api-keys'),
    'apiKeys.create': create('/api-keys'),
    'apiKeys.rotate': create('/api-keys/:id/rotate'),
    'apiKeys.revoke': remove('/api-keys/:id'),
  } satisfies Record<keyof OperationTypes, Route>
}

/** Every route that the client calls; paths are relative to the API prefix. */
// said to be pure, so that a page that reads streams alone is bundled without it
export const operations = /* @__PURE__ */ routes()

/** The name of an operation, as hooks report it. */
export type OperationName = keyof OperationTypes

/** A result whose kind of answer is not known at compile time. */
type AnyRunResult = Omit<RunResult, 'response'> & { response: AnyRunResponse }

/** The query, body and result of each operation; a type test holds them equal to the contract. */
export interface OperationTypes {
  me: { result: Me }
  health: { result: Health }

  'projects.list': { result: Project[] }
  'projects.create': {
    body: { name: string; retentionDays?: number } & ProjectDefaults
    result: { project: Project; version: Version }
  }
  'projects.update': { body: { name?: string; retentionDays?: number | null } & ProjectDefaults; result: Project }
  'projects.delete': { body: { name: string }; result: { id: number } }

  'versions.list': { query: { status?: 'draft' | 'merged' }; result: Version[] }
  'versions.get': { result: Version }
  'versions.create': { body: { name: string }; result: Version }
  'versions.publish': { body: { title?: string; description?: string; force?: boolean }; result: Version }
  'versions.push': { body: { changes: Change[] }; result: PushResult }
  'versions.revert': { body: { paths?: string[] }; result: RevertResult }
  'versions.diff': { query: { base?: string }; result: VersionDiff }

  'prompts.list': { query: { prefix?: string }; result: Prompt[] }
  'prompts.create': { body: { path: string; prompt?: string }; result: Prompt }
  'prompts.get': { result: Prompt }
  'prompts.getOrCreate': { body: { path: string; prompt?: string }; result: Prompt }
  'prompts.createOrUpdate': {
    body: { path: string; prompt: string; force?: boolean; baseHash?: string; liveHash?: string }
    result: Prompt
  }
  'prompts.delete': { result: { documentUuid: string; path: string } }
  'prompts.run': {
    body: {
      path: string
      parameters?: Record<string, unknown>
      stream?: boolean
      background?: boolean
      messages?: Message[]
      userMessage?: string
      customIdentifier?: string
      tools?: string[]
      mcpHeaders?: Record<string, Record<string, string>>
    }
    result: AnyRunResult
  }

  'conversations.list': {
    query: {
      projectId?: string
      versionUuid?: string
      documentUuid?: string
      path?: string
      status?: RunState
      origin?: ConversationOrigin
      customIdentifier?: string
      from?: string
      to?: string
      limit?: number
      cursor?: string
    }
    result: { items: ConversationSummary[]; nextCursor: string | null }
  }
  'conversations.get': { result: Conversation }
  'conversations.delete': { result: { uuid: string } }
  'conversations.erase': {
    query: { customIdentifier: string; projectId?: string }
    result: { deleted: number; active: number }
  }
  'conversations.chat': {
    body: {
      messages: Message[]
      stream?: boolean
      tools?: string[]
      mcpHeaders?: Record<string, Record<string, string>>
    }
    result: AnyRunResult
  }

  'runs.toolResult': {
    body: { toolCallId: string; result?: unknown; isError?: boolean }
    result: { success: true }
  }
  'runs.attach': { body: { stream?: boolean }; result: AnyRunResult }
  'runs.stop': { result: StopResult }

  'evaluations.create': { body: { projectId: number } & EvaluationInput; result: Evaluation }
  'evaluations.list': { query: { projectId?: string; documentUuid?: string }; result: Evaluation[] }
  'evaluations.get': { result: Evaluation }
  'evaluations.annotate': {
    body: {
      score: number
      versionUuid?: string
      metadata?: Record<string, unknown>
      context?: Record<string, unknown>
    }
    result: Annotation
  }
  'conversations.annotations': { result: Annotation[] }

  'logs.create': {
    body: {
      path: string
      messages: Message[]
      response?: string
      parameters?: Record<string, unknown>
      customIdentifier?: string
      duration?: number
    }
    result: LogEntry
  }

  'providerKeys.list': { result: ProviderKeyInfo[] }
  'providerKeys.get': { result: ProviderKeyInfo }
  'providerKeys.create': {
    body: {
      name: string
      provider: string
      token: string
      url?: string
      defaultModel?: string
      configuration?: Record<string, unknown>
    }
    result: ProviderKeyInfo
  }
  'providerKeys.update': {
    body: {
      name?: string
      token?: string
      url?: string
      defaultModel?: string
      configuration?: Record<string, unknown>
    }
    result: ProviderKeyInfo
  }
  'providerKeys.delete': { result: ProviderKeyInfo }

  'apiKeys.list': { result: ApiKeyInfo[] }
  'apiKeys.create': {
    body: {
      name: string
      scopes?: KeyScope[]
      projectId?: number
      plan?: KeyPlan
      limit?: number
      expiresAt?: string
    }
    result: ApiKeyInfo & { key: string }
  }
  'apiKeys.rotate': { body: { overlapSeconds?: number }; result: ApiKeyInfo & { key: string } }
  'apiKeys.revoke': { result: ApiKeyInfo }
}
