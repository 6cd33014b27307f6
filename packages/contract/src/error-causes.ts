/** Why a route refuses a request: finer than its status, and the same words in the contract, its document and the tests. */
/** Every cause of an error, with its status and what is wrong then. */
export const ERROR_CAUSES = {
  'refused-query': { status: 400, text: 'the query holds NUL or half a surrogate pair' },
  'invalid-query': { status: 400, text: 'a query parameter is not valid' },
  'malformed-path': { status: 400, text: 'the path holds a broken escape' },
  'malformed-compression': { status: 400, text: 'the body is not compressed as `Content-Encoding` says' },
  'malformed-json': { status: 400, text: 'the body is not JSON' },
  'invalid-body': { status: 400, text: 'the body is not valid: `details.issues`' },
  'invalid-idempotency-key': { status: 400, text: '`Idempotency-Key` is not 1 to 255 printable ASCII characters' },
  'invalid-path': { status: 400, text: 'a prompt cannot be created at this path' },
  'repeated-path': { status: 400, text: 'two changes name one path' },
  'merged-version': { status: 400, text: 'the version is merged' },
  'live-hash-of-merged': { status: 400, text: '`liveHash` for a merged version' },
  'not-a-draft': { status: 400, text: 'the version is merged, `live` or unknown' },
  'messages-with-steps': { status: 400, text: '`messages` for a prompt that uses `<step>`' },
  'other-name': { status: 400, text: '`name` is not the name of the project' },
  'unknown-tool-call': { status: 400, text: 'a tool result whose call is not in the conversation' },

  'no-key': { status: 401, text: 'no bearer token was sent' },
  'unknown-key': { status: 401, text: 'the API key is unknown, malformed, revoked or expired' },
  'wrong-metrics-token': { status: 401, text: 'the token is not the one that is configured' },

  'missing-scope': { status: 403, text: 'the key lacks the scope' },
  'missing-publish-scope': { status: 403, text: '`force` on a merged version needs the scope `publish` too' },
  'restricted-key': { status: 403, text: 'the key is restricted to one project' },
  'metrics-elsewhere': { status: 403, text: 'no token is configured, and the caller is on another machine' },

  'unknown-project': { status: 404, text: 'unknown project' },
  'unknown-version': { status: 404, text: 'unknown version' },
  'nothing-live': { status: 404, text: '`live` in a project without a publication' },
  'unknown-document': { status: 404, text: 'unknown prompt' },
  'unknown-conversation': { status: 404, text: 'unknown conversation' },
  'unknown-evaluation': { status: 404, text: 'unknown evaluation' },
  'unknown-api-key': { status: 404, text: 'unknown API key' },
  'unknown-provider-key': { status: 404, text: 'unknown provider key' },
  'unissued-tool-call': { status: 404, text: 'no run issued this tool call' },

  'idempotency-in-progress': { status: 409, text: 'the first request with this `Idempotency-Key` is in progress' },
  'idempotency-unreadable': {
    status: 409,
    text: 'the answer kept for this `Idempotency-Key` was sealed with an encryption key that the server no longer has',
  },
  'path-taken': { status: 409, text: 'there is a prompt at the path' },
  'other-base': { status: 409, text: 'the prompt is not the one that `baseHash` names' },
  'other-live': { status: 409, text: "live's text is not the one that `liveHash` names" },
  'live-changed': { status: 409, text: 'live changed what the draft changes' },
  'draft-kept-changing': { status: 409, text: 'the draft kept changing while it was compiled' },
  'conversation-busy': { status: 409, text: 'a run of the conversation is active' },
  'project-busy': { status: 409, text: 'runs of the project are active' },
  'revoked-key': { status: 409, text: 'the key is revoked' },
  'expired-key': { status: 409, text: 'the key has expired' },
  'last-admin-key': { status: 409, text: 'it is the last admin key' },
  'name-taken': { status: 409, text: 'there is a provider key of this name' },
  'fixed-entry': { status: 409, text: 'the entry comes from the environment or is `demo`' },

  'if-match': { status: 412, text: '`If-Match` does not hold' },
  'if-none-match': { status: 412, text: '`If-None-Match` does not hold' },

  'body-too-large': { status: 413, text: 'the body is over its limit' },

  'content-type': { status: 415, text: 'the body is not sent as JSON' },
  'content-encoding': { status: 415, text: 'the body is compressed in a way that is not known' },

  'idempotency-reuse': { status: 422, text: '`Idempotency-Key` was used with another request' },
  'draft-does-not-compile': { status: 422, text: 'prompts of the draft do not compile' },
  parameters: { status: 422, text: 'parameters are missing or of another type' },
  'score-range': { status: 422, text: 'the score is out of range' },
  'prompt-does-not-compile': {
    status: 422,
    text: '`DocumentRunError` `chain_compile_error`: the prompt does not parse',
  },
  'run-failed': { status: 422, text: '`DocumentRunError`: the run failed or was stopped' },

  'rate-limited': { status: 429, text: 'the key is over its rate limit' },
  'failed-authentications': { status: 429, text: 'too many invalid keys came from this address' },
  'too-many-streams': { status: 429, text: 'the key holds too many open event streams' },

  unforeseen: { status: 500, text: 'unforeseen; `details.requestId` finds it in the log' },

  'not-ready': { status: 503, text: '`details.checks` says what has failed' },
  stopping: { status: 503, text: 'the server is stopping' },
  'database-away': { status: 503, text: 'the database is not available to this server, or has no room for writes' },
  'queue-full': { status: 503, text: 'the key has too many queued runs' },
  'too-many-evaluations': {
    status: 503,
    text: 'the key or its workspace has too many prompts in evaluation, or the server is too busy to evaluate one',
  },
  'run-out-of-reach': { status: 503, text: 'another process drives the run' },
} as const satisfies Record<string, { status: number; text: string }>
export type ErrorCause = keyof typeof ERROR_CAUSES
