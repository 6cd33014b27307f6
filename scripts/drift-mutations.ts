/** A change to one file. `from` occurs in the file exactly once. */
export interface Edit {
  file: string
  from: string
  to: string
}

/** A contract change that at least one check must detect. */
export interface Mutation {
  name: string
  edits: readonly Edit[]
}

const contract = 'packages/contract/src'
const schemas = `${contract}/schemas`
const vocabulary = `${contract}/vocabulary`
const resources = `${vocabulary}/resources`

const mutate = (name: string, file: string, from: string, to: string): Mutation => ({
  name,
  edits: [{ file, from, to }],
})
const route = (name: string, from: string, to: string) => mutate(name, `${contract}/routes.ts`, from, to)

/** Changes in a single place, which the contract's own checks must detect. */
export const mutations: readonly Mutation[] = [
  mutate(
    'response: optional key added to the schema',
    `${schemas}/versions.ts`,
    'deleted: z.int().nonnegative(),',
    'deleted: z.int().nonnegative(), renamed: z.int().exactOptional(),',
  ),
  mutate(
    'response: optional key added to the vocabulary',
    `${resources}/documents.ts`,
    'provider?: ProviderKind\n  /** Empty',
    'provider?: ProviderKind\n  model?: string\n  /** Empty',
  ),
  mutate('response: type changed', `${schemas}/logs.ts`, 'resolvedContent: z.string()', 'resolvedContent: z.number()'),
  mutate('response: key of an item removed', `${resources}/versions.ts`, '  compiles: boolean | null\n', ''),
  mutate('response: key of a check renamed', `${schemas}/documents.ts`, 'referencedBy: z', 'referrers: z'),
  mutate(
    'body: optional key of a check made required',
    `${resources}/documents.ts`,
    '  parameters?: Record<string, unknown>',
    '  parameters: Record<string, unknown>',
  ),
  route('route: path of the tree changed', 'versions/:versionUuid/tree', 'versions/:versionUuid/files'),
  mutate('response: key renamed', `${schemas}/projects.ts`, 'lastEditedAt: Timestamp', 'editedAt: Timestamp'),
  mutate(
    'response: key made nullable',
    `${schemas}/evaluations.ts`,
    'hasPassed: z.boolean()',
    'hasPassed: z.boolean().nullable()',
  ),
  mutate('response: key made optional', `${resources}/api-keys.ts`, '  prefix: string', '  prefix?: string'),
  mutate(
    'response: nested key added',
    `${schemas}/api-keys.ts`,
    'windowSeconds: z.literal(1)',
    'windowSeconds: z.literal(1), burst: z.int().exactOptional()',
  ),
  mutate(
    'response: key removed from the vocabulary',
    `${resources}/provider-keys.ts`,
    '  lastUsedAt: string | null\n',
    '',
  ),
  mutate(
    'response: another schema on a route',
    `${schemas}/runs.ts`,
    'responses: withErrors({ 200: StopResult })',
    'responses: withErrors({ 200: BackgroundRun })',
  ),
  mutate(
    'console: key added to a response',
    `${schemas}/console.ts`,
    'isCurrent: z.boolean()',
    'isMobile: z.boolean(), isCurrent: z.boolean()',
  ),
  route('console: path of a route changed', "path: '/console/links'", "path: '/console/link'"),
  mutate(
    'body: optional key added to the schema',
    `${schemas}/projects.ts`,
    'defaultModel: z.string().exactOptional(),',
    'defaultModel: z.string().exactOptional(), color: z.string().exactOptional(),',
  ),
  mutate(
    'body: optional key added to the vocabulary',
    `${resources}/runs.ts`,
    '  customIdentifier?: string',
    '  customIdentifier?: string\n  traceparent?: string',
  ),
  mutate(
    'body: required key made optional',
    `${schemas}/versions.ts`,
    'absent({ name: Name })',
    'absent({ name: Name.exactOptional() })',
  ),
  mutate('body: key renamed', `${schemas}/tools.ts`, 'isError: z.boolean()', 'failed: z.boolean()'),
  mutate('body: removed from a route', `${schemas}/api-keys.ts`, '    body: RotateApiKeyBody,\n', ''),
  mutate(
    'query: optional key added',
    `${schemas}/conversations.ts`,
    'origin: ConversationOrigin.exactOptional(),',
    'origin: ConversationOrigin.exactOptional(), model: z.string().exactOptional(),',
  ),
  mutate(
    'query: required key made optional',
    `${schemas}/examples.ts`,
    'documentUuid: z.string().meta({',
    'documentUuid: z.string().exactOptional().meta({',
  ),
  mutate('query: key renamed', `${schemas}/documents.ts`, 'prefix: z.string()', 'start: z.string()'),
  mutate(
    'event: optional key added to the schema',
    `${schemas}/run-events.ts`,
    "type: z.literal('start-step'), step: z.int().positive()",
    "type: z.literal('start-step'), step: z.int().positive(), model: z.string().exactOptional()",
  ),
  mutate(
    'event: optional key added to the vocabulary',
    `${vocabulary}/run-event.ts`,
    '  tools: ToolCall[]',
    '  tools: ToolCall[]\n  timeoutMs?: number',
  ),
  mutate('event: type renamed', `${schemas}/run-events.ts`, "z.literal('text-delta')", "z.literal('text')"),
  mutate(
    'message: part renamed',
    `${schemas}/messages.ts`,
    "z.literal('redacted-reasoning')",
    "z.literal('hidden-reasoning')",
  ),
  mutate('enum: value added', `${vocabulary}/run-state.ts`, "'queued', ", "'queued', 'paused', "),
  mutate('enum: value removed', `${resources}/evaluations.ts`, "['binary', 'rating']", "['binary']"),
  mutate('error code added', `${vocabulary}/error-codes.ts`, "  'worker_lost',", "  'worker_lost',\n  'quota_error',"),
  route(
    'route: method changed',
    "update: { method: 'PUT', path: '/projects/:projectId'",
    "update: { method: 'POST', path: '/projects/:projectId'",
  ),
  route('route: path changed', "path: '/tools/results'", "path: '/tools/result'"),
  route(
    'route: path parameter renamed',
    "get: { method: 'GET', path: '/evaluations/:evaluationUuid'",
    "get: { method: 'GET', path: '/evaluations/:uuid'",
  ),
  route(
    'route: cause removed',
    "'restricted-key', 'unknown-api-key', 'last-admin-key'",
    "'restricted-key', 'unknown-api-key'",
  ),
  mutate(
    'response: price made required',
    `${schemas}/providers.ts`,
    'z.number().nonnegative().nullable()',
    'z.number().nonnegative()',
  ),
  mutate(
    'response: nested key made optional',
    `${resources}/provider-keys.ts`,
    '  firstTokenMs: number | null',
    '  firstTokenMs?: number | null',
  ),
  route(
    'route: conflict removed',
    "'unknown-document-uuid', 'example-name-taken', 'too-many-examples'",
    "'unknown-document-uuid', 'example-name-taken'",
  ),
  route('route: cause added', "'unissued-tool-call'", "'unissued-tool-call', 'conversation-busy'"),
  route(
    'route: scope changed',
    "me: { method: 'GET', path: '/me', scope: 'any'",
    "me: { method: 'GET', path: '/me', scope: 'read'",
  ),
  route(
    'route: idempotent flipped',
    "create: { method: 'POST', path: '/projects', scope: 'write', rateLimited: true, idempotent: true",
    "create: { method: 'POST', path: '/projects', scope: 'write', rateLimited: true, idempotent: false",
  ),
  route(
    'route: rateLimited flipped',
    "list: { method: 'GET', path: '/projects', scope: 'read', rateLimited: true",
    "list: { method: 'GET', path: '/projects', scope: 'read', rateLimited: false",
  ),
  route('route: repeatable removed', 'streams: false,\n      repeatable: true', 'streams: false'),
  route(
    'route: repeatable added',
    'streams: false, ignoresBody: true',
    'streams: false, ignoresBody: true, repeatable: true',
  ),
  route(
    'route: streams flipped',
    'streams: true, showsMessages: true, resumes: true',
    'streams: false, showsMessages: true, resumes: true',
  ),
  route('route: resumes removed', 'resumes: true, ', ''),
  route('route: answersSecret removed', 'streams: false, answersSecret: true', 'streams: false'),
  route('route: precondition removed', "['If-Match', 'If-None-Match']", "['If-Match']"),
  route('route: renamed', '    rotate: {', '    renew: {'),
  mutate('cause: renamed in the table', `${vocabulary}/error-causes.ts`, "'last-admin-key': {", "'final-admin-key': {"),
]

/**
 * Changes to the schema and the vocabulary together. The code that builds or sends the value must then fail to compile.
 */
export const consistentMutations: readonly Mutation[] = [
  {
    name: 'response: required key added (schema and vocabulary)',
    edits: [
      {
        file: `${schemas}/documents.ts`,
        from: 'path: z.string(),\n    content:',
        to: 'path: z.string(),\n    size: z.int(),\n    content:',
      },
      {
        file: `${resources}/documents.ts`,
        from: '  path: string\n  content: string',
        to: '  path: string\n  size: number\n  content: string',
      },
    ],
  },
  {
    name: 'response: required key of a version renamed (schema and vocabulary)',
    edits: [
      { file: `${schemas}/versions.ts`, from: 'changeCount: z', to: 'changes: z' },
      { file: `${resources}/versions.ts`, from: '  changeCount: number', to: '  changes: number' },
    ],
  },
  {
    name: 'response: key renamed (schema and vocabulary)',
    edits: [
      { file: `${schemas}/runs.ts`, from: 'stopped: z.boolean()', to: 'isStopped: z.boolean()' },
      { file: `${resources}/runs.ts`, from: '  stopped: boolean', to: '  isStopped: boolean' },
    ],
  },
  {
    name: 'response: nested key renamed (schema and vocabulary)',
    edits: [
      {
        file: `${contract}/common.ts`,
        from: '.object({ id: Id, name: z.string(), email: z.string()',
        to: '.object({ id: Id, name: z.string(), mail: z.string()',
      },
      { file: `${resources}/person.ts`, from: '  email: string', to: '  mail: string' },
    ],
  },
  {
    name: 'body: key renamed (schema and vocabulary)',
    edits: [
      {
        file: `${schemas}/examples.ts`,
        from: "documentUuid: Uuid.meta({ description: 'The prompt that",
        to: "promptUuid: Uuid.meta({ description: 'The prompt that",
      },
      {
        file: `${resources}/examples.ts`,
        from: 'export interface CreateExampleBody {\n  documentUuid',
        to: 'export interface CreateExampleBody {\n  promptUuid',
      },
    ],
  },
  {
    name: 'body: required key added (schema and vocabulary)',
    edits: [
      {
        file: `${schemas}/tools.ts`,
        from: 'toolCallId: z.string().min(1),',
        to: 'toolCallId: z.string().min(1), turn: z.int(),',
      },
      { file: `${resources}/tools.ts`, from: '  toolCallId: string', to: '  toolCallId: string\n  turn: number' },
    ],
  },
]
