import type { ErrorCause } from './vocabulary/error-causes.ts'
import type { KeyScope } from './vocabulary/wire-types.ts'

/** Route paths are relative to this prefix. */
export const API_PREFIX = '/api/v3'

/** The part of a route that the SDK bundles: everything except the schemas and texts. An absent flag is false. */
export interface RouteMetadata {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to `API_PREFIX`, with `:parameters`. */
  readonly path: string
  /** The required key scope. For a list, one of its key scopes is enough. `any` accepts every valid key. */
  readonly scope: KeyScope | 'any' | readonly KeyScope[]
  /** The route takes an `Idempotency-Key`. */
  readonly idempotent?: true
  /** With `stream`, the response is an event stream. */
  readonly streams?: true
  /** Marks a POST that clients may repeat without an `Idempotency-Key`, because repeating has no further effect. */
  readonly repeatable?: true
  /** The response contains a secret, so its stored copy is encrypted. */
  readonly answersSecret?: true
  readonly ignoresBody?: true
  /** Set on a DELETE that reads a body. Other DELETE routes ignore the body. */
  readonly readsBody?: true
  /** A key that is restricted to one project may not use the route. */
  readonly refusesRestrictedKeys?: true
  /** The route needs neither an API key nor a session, and has no rate limit of its own. */
  readonly isPublic?: true
  /** A POST or PUT that adds nothing of size, so that a full workspace accepts it. */
  readonly worksWhenFull?: true
  /** The response contains messages. The message format depends on `X-Latitude-SDK-Version`. */
  readonly showsMessages?: true
  readonly resumes?: true
  readonly preconditions?: readonly ('If-Match' | 'If-None-Match')[]
  /** Causes that do not follow from the other fields; see `causesOf`. */
  readonly errors?: readonly ErrorCause[]
}

/** The server mounts these routes, and the SDK bundles this table. */
// biome-ignore format: a table, one record per route
export const routes = {
  apiKeys: {
    me: { method: 'GET', path: '/me', scope: 'any' },
    list: { method: 'GET', path: '/api-keys', scope: 'admin', refusesRestrictedKeys: true },
    create: { method: 'POST', path: '/api-keys', scope: 'admin', idempotent: true, answersSecret: true, refusesRestrictedKeys: true,
      errors: ['unknown-project'] },
    rotate: { method: 'POST', path: '/api-keys/:id/rotate', scope: 'admin', idempotent: true, answersSecret: true,
      worksWhenFull: true, refusesRestrictedKeys: true,
      errors: ['unknown-api-key', 'revoked-key', 'expired-key'] },
    revoke: { method: 'DELETE', path: '/api-keys/:id', scope: 'admin', refusesRestrictedKeys: true,
      errors: ['unknown-api-key', 'last-admin-key'] },
  },
  projects: {
    list: { method: 'GET', path: '/projects', scope: 'read' },
    create: { method: 'POST', path: '/projects', scope: 'write', idempotent: true, refusesRestrictedKeys: true },
    update: { method: 'PUT', path: '/projects/:projectId', scope: 'write', worksWhenFull: true },
    delete: { method: 'DELETE', path: '/projects/:projectId', scope: 'admin', readsBody: true,
      errors: ['wrong-project-name', 'project-busy'] },
    stats: { method: 'GET', path: '/projects/:projectId/stats', scope: 'read', errors: ['too-many-stats'] },
    tags: { method: 'GET', path: '/projects/:projectId/tags', scope: 'read' },
    gates: { method: 'GET', path: '/projects/:projectId/gates', scope: 'read' },
    setGates: { method: 'PUT', path: '/projects/:projectId/gates', scope: 'admin', worksWhenFull: true },
  },
  versions: {
    list: { method: 'GET', path: '/projects/:projectId/versions', scope: 'read' },
    create: { method: 'POST', path: '/projects/:projectId/versions', scope: 'write', idempotent: true,
      errors: ['invalid-path', 'path-too-long', 'repeated-path', 'unknown-document', 'path-taken', 'base-mismatch',
        'base-changed', 'live-text-changed', 'others-changed',
        'moved', 'live-changed', 'draft-kept-changing', 'draft-does-not-compile', 'release-refused', 'gate',
        'too-many-evaluations'] },
    get: { method: 'GET', path: '/projects/:projectId/versions/:versionUuid', scope: 'read' },
    update: { method: 'PUT', path: '/projects/:projectId/versions/:versionUuid', scope: 'write', worksWhenFull: true,
      errors: ['merged-version'] },
    delete: { method: 'DELETE', path: '/projects/:projectId/versions/:versionUuid', scope: 'write',
      errors: ['merged-version'] },
    restore: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/restore', scope: 'write',
      repeatable: true, worksWhenFull: true, ignoresBody: true,
      errors: ['merged-version'] },
    publish: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/publish', scope: 'publish',
      idempotent: true,
      errors: ['not-a-draft', 'moved', 'live-changed', 'draft-kept-changing', 'draft-does-not-compile', 'release-refused',
        'gate', 'too-many-evaluations'] },
    push: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/push', scope: 'write', idempotent: true,
      errors: ['invalid-path', 'path-too-long', 'repeated-path', 'merged-version', 'unknown-document', 'path-taken',
        'base-mismatch', 'base-changed', 'live-text-changed', 'too-many-evaluations'] },
    updateFromEnvironment: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/update', scope: 'write',
      idempotent: true,
      errors: ['merged-version', 'draft-kept-changing', 'too-many-evaluations'] },
    revert: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/revert', scope: 'write',
      idempotent: true, worksWhenFull: true,
      errors: ['merged-version'] },
    diff: { method: 'GET', path: '/projects/:projectId/versions/:versionUuid/diff', scope: 'read' },
    tree: { method: 'GET', path: '/projects/:projectId/versions/:versionUuid/tree', scope: 'read' },
    checks: { method: 'GET', path: '/projects/:projectId/versions/:versionUuid/checks', scope: 'read',
      errors: ['not-a-draft', 'too-many-evaluations'] },
    import: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/import', scope: 'admin',
      idempotent: true,
      errors: ['merged-version', 'version-uuid-taken', 'invalid-path', 'path-too-long'] },
  },
  environments: {
    releases: { method: 'GET', path: '/projects/:projectId/environments/:environment/releases', scope: 'read' },
    rollback: { method: 'POST', path: '/projects/:projectId/environments/:environment/rollback', scope: 'publish',
      idempotent: true, worksWhenFull: true,
      errors: ['moved', 'nothing-to-return-to'] },
  },
  documents: {
    list: { method: 'GET', path: '/projects/:projectId/versions/:versionUuid/documents', scope: 'read',
      errors: ['list-too-large', 'too-many-evaluations'] },
    create: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/documents', scope: 'write',
      idempotent: true,
      errors: ['invalid-path', 'path-too-long', 'merged-version', 'path-taken', 'too-many-evaluations'] },
    get: { method: 'GET', path: '/projects/:projectId/versions/:versionUuid/documents/:path', scope: 'read',
      preconditions: ['If-None-Match'],
      errors: ['too-many-evaluations'] },
    getOrCreate: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/documents/get-or-create',
      scope: 'write', idempotent: true,
      errors: ['invalid-path', 'path-too-long', 'merged-version', 'too-many-evaluations'] },
    createOrUpdate: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/documents/create-or-update',
      scope: 'write', idempotent: true, preconditions: ['If-Match', 'If-None-Match'],
      errors: ['invalid-path', 'path-too-long', 'merged-without-force', 'live-hash-of-merged', 'missing-publish-scope',
        'base-mismatch', 'base-changed', 'live-text-changed', 'too-many-evaluations'] },
    delete: { method: 'DELETE', path: '/projects/:projectId/versions/:versionUuid/documents/:path', scope: 'write',
      preconditions: ['If-Match'],
      errors: ['merged-version'] },
    check: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/documents/check', scope: 'read',
      repeatable: true, showsMessages: true,
      errors: ['invalid-path', 'path-too-long', 'unknown-document', 'missing-parameters', 'invalid-parameters',
        'too-many-evaluations'] },
    move: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/documents/move', scope: 'write',
      idempotent: true,
      errors: ['invalid-path', 'path-too-long', 'merged-version', 'unknown-document', 'path-taken', 'base-changed',
        'draft-kept-changing', 'too-many-evaluations'] },
    merge: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/documents/merge', scope: 'read',
      repeatable: true,
      errors: ['base-mismatch', 'too-many-evaluations'] },
  },
  runs: {
    run: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/documents/run', scope: 'run',
      idempotent: true, streams: true, showsMessages: true,
      errors: ['invalid-tag', 'messages-with-steps', 'unknown-document', 'missing-parameters', 'invalid-parameters',
        'prompt-does-not-compile', 'run-failed', 'run-not-stored', 'queue-full', 'queue-unavailable',
        'too-many-evaluations'] },
    chat: { method: 'POST', path: '/conversations/:conversationUuid/chat', scope: 'run', idempotent: true,
      streams: true, showsMessages: true,
      errors: ['unknown-tool-call', 'conversation-busy', 'run-failed', 'run-not-stored'] },
    attach: { method: 'POST', path: '/conversations/:conversationUuid/attach', scope: 'run', streams: true,
      showsMessages: true, resumes: true, repeatable: true,
      errors: ['unknown-run', 'run-failed', 'run-not-stored', 'run-out-of-reach'] },
    stop: { method: 'POST', path: '/conversations/:conversationUuid/stop', scope: 'run', ignoresBody: true },
  },
  runRecords: {
    list: { method: 'GET', path: '/projects/:projectId/runs', scope: 'read' },
    get: { method: 'GET', path: '/runs/:runUuid', scope: ['read', 'run'] },
    ofConversation: { method: 'GET', path: '/conversations/:conversationUuid/runs', scope: ['read', 'run'] },
  },
  conversations: {
    list: { method: 'GET', path: '/conversations', scope: 'read', errors: ['unknown-project'] },
    get: { method: 'GET', path: '/conversations/:conversationUuid', scope: ['read', 'run'], showsMessages: true },
    update: { method: 'PUT', path: '/conversations/:conversationUuid', scope: 'run',
      errors: ['invalid-tag'] },
    feedback: { method: 'POST', path: '/conversations/:conversationUuid/feedback', scope: 'run', idempotent: true },
    erase: { method: 'DELETE', path: '/conversations', scope: 'write', errors: ['unknown-project'] },
    delete: { method: 'DELETE', path: '/conversations/:conversationUuid', scope: 'write',
      errors: ['conversation-busy'] },
  },
  tools: {
    result: { method: 'POST', path: '/tools/results', scope: 'run', repeatable: true, errors: ['unissued-tool-call'] },
  },
  evaluations: {
    create: { method: 'POST', path: '/evaluations', scope: 'write', idempotent: true,
      errors: ['unknown-project', 'unknown-document-uuid', 'unknown-document', 'not-a-judge',
        'evaluation-limit', 'too-many-evaluations'] },
    list: { method: 'GET', path: '/evaluations', scope: 'read', errors: ['unknown-project'] },
    get: { method: 'GET', path: '/evaluations/:evaluationUuid', scope: 'read' },
    update: { method: 'PUT', path: '/evaluations/:evaluationUuid', scope: 'write' },
    agreement: { method: 'GET', path: '/evaluations/:evaluationUuid/agreement', scope: 'read', errors: ['no-judge'] },
    queue: { method: 'GET', path: '/projects/:projectId/queue', scope: 'read', errors: ['unknown-evaluation'] },
    annotate: { method: 'POST', path: '/conversations/:conversationUuid/evaluations/:evaluationUuid/annotate',
      scope: 'run', idempotent: true,
      errors: ['unknown-version', 'nothing-live', 'score-out-of-range', 'score-not-binary',
        'built-in-evaluation'] },
    removeLabel: { method: 'DELETE', path: '/conversations/:conversationUuid/evaluations/:evaluationUuid/label', scope: 'run' },
    annotations: { method: 'GET', path: '/conversations/:conversationUuid/annotations', scope: ['read', 'run'] },
  },
  examples: {
    list: { method: 'GET', path: '/projects/:projectId/examples', scope: 'read' },
    create: { method: 'POST', path: '/projects/:projectId/examples', scope: 'write', idempotent: true,
      errors: ['unknown-document-uuid', 'example-name-taken', 'too-many-examples'] },
    batch: { method: 'POST', path: '/projects/:projectId/examples/batch', scope: 'write', idempotent: true,
      errors: ['unknown-document-uuid', 'too-many-examples'] },
    fromRuns: { method: 'POST', path: '/projects/:projectId/examples/from-runs', scope: 'write', idempotent: true,
      errors: ['too-many-examples'] },
    update: { method: 'PUT', path: '/projects/:projectId/examples/:exampleUuid', scope: 'write',
      errors: ['example-name-taken', 'too-many-examples'] },
    delete: { method: 'DELETE', path: '/projects/:projectId/examples/:exampleUuid', scope: 'write' },
  },
  experiments: {
    create: { method: 'POST', path: '/projects/:projectId/experiments', scope: 'run', idempotent: true,
      errors: ['unknown-version', 'nothing-live', 'unknown-document', 'unknown-example', 'unknown-evaluation',
        'prompt-does-not-compile', 'no-rows', 'rows-do-not-fit', 'too-many-runs', 'budget-too-high',
        'experiment-active', 'too-many-experiments', 'too-many-evaluations'] },
    list: { method: 'GET', path: '/projects/:projectId/experiments', scope: 'read' },
    get: { method: 'GET', path: '/experiments/:experimentUuid', scope: 'read' },
    items: { method: 'GET', path: '/experiments/:experimentUuid/items', scope: 'read' },
    report: { method: 'GET', path: '/experiments/:experimentUuid/report', scope: 'read',
      errors: ['unknown-evaluation'] },
    stop: { method: 'POST', path: '/experiments/:experimentUuid/stop', scope: 'run', ignoresBody: true },
    resume: { method: 'POST', path: '/experiments/:experimentUuid/resume', scope: 'run', idempotent: true,
      errors: ['experiment-active', 'too-many-experiments', 'no-rows', 'rows-do-not-fit', 'too-many-runs', 'budget-too-high'] },
    scores: { method: 'POST', path: '/experiments/:experimentUuid/scores', scope: 'run', idempotent: true,
      errors: ['not-a-code-evaluation', 'evaluation-limit'] },
  },
  logs: {
    create: { method: 'POST', path: '/projects/:projectId/versions/:versionUuid/documents/logs', scope: 'run',
      idempotent: true,
      errors: ['unknown-document', 'too-many-evaluations'] },
  },
  providerApiKeys: {
    list: { method: 'GET', path: '/provider-api-keys', scope: 'admin', refusesRestrictedKeys: true },
    create: { method: 'POST', path: '/provider-api-keys', scope: 'admin', idempotent: true, refusesRestrictedKeys: true,
      errors: ['name-taken'] },
    get: { method: 'GET', path: '/provider-api-keys/:id', scope: 'admin', refusesRestrictedKeys: true,
      errors: ['unknown-provider-key'] },
    update: { method: 'PUT', path: '/provider-api-keys/:id', scope: 'admin', worksWhenFull: true, refusesRestrictedKeys: true,
      errors: ['unknown-provider-key', 'name-taken', 'built-in-provider-key'] },
    delete: { method: 'DELETE', path: '/provider-api-keys/:id', scope: 'admin', refusesRestrictedKeys: true,
      errors: ['unknown-provider-key', 'built-in-provider-key'] },
    test: { method: 'POST', path: '/provider-api-keys/test', scope: 'admin', refusesRestrictedKeys: true,
      errors: ['unknown-provider-key'] },
  },
  providers: {
    list: { method: 'GET', path: '/providers', scope: 'read' },
  },
} as const satisfies Record<string, Record<string, RouteMetadata>>

/**
 * Sign-in of the console. These paths are complete, without `API_PREFIX`. All routes except `signIn` take an API key or
 * the cookie of a session.
 */
// biome-ignore format: a table, one record per route
export const consoleRoutes = {
  signIn: { method: 'POST', path: '/console/session', scope: 'any', isPublic: true,
    errors: ['sign-in-refused', 'rate-limited'] },
  session: { method: 'GET', path: '/console/session', scope: 'any' },
  signOut: { method: 'DELETE', path: '/console/session', scope: 'any' },
  sessions: { method: 'GET', path: '/console/sessions', scope: 'any' },
  endSession: { method: 'DELETE', path: '/console/sessions/:id', scope: 'any', errors: ['unknown-session'] },
  createLink: { method: 'POST', path: '/console/links', scope: 'any',
    errors: ['missing-scope', 'restricted-key', 'unknown-api-key', 'revoked-key', 'expired-key'] },
} as const satisfies Record<string, RouteMetadata>
