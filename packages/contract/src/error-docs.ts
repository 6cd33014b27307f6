/** Explains when each cause and each run error occurs, and what the caller does next. */
import type { ErrorCause } from './vocabulary/error-causes.ts'
import type { RunErrorCode } from './vocabulary/error-codes.ts'

interface Explanation {
  /** A clause without a capital letter or a full stop, for the OpenAPI document and docs/errors.md. */
  when: string
  next: string
}

const fixRequest = 'Fix what `details.issues` lists and send the request again.'
const listFirst = 'List what exists and check the id and the project of the key.'
const wait = 'Wait `Retry-After` seconds and repeat the request.'

export const CAUSE_DOCS = {
  'refused-query': { when: 'the query contains NUL or half a surrogate pair', next: fixRequest },
  'invalid-query': { when: 'a query parameter is invalid', next: fixRequest },
  'invalid-body': { when: 'the body is invalid; `details.issues` lists why', next: fixRequest },
  'invalid-idempotency-key': {
    when: '`Idempotency-Key` is not 1 to 255 printable ASCII characters',
    next: 'Send a shorter key, a UUID for example.',
  },
  'malformed-path': { when: 'the path contains a broken escape', next: 'Encode the path with `encodeURIComponent`.' },
  'malformed-compression': {
    when: 'the body cannot be decompressed with the method in `Content-Encoding`',
    next: 'Compress the body with that method, or omit the header.',
  },
  'malformed-json': { when: 'the body is not JSON', next: 'Send valid JSON.' },
  'incomplete-body': { when: 'the connection closed before the whole body arrived', next: 'Send the request again.' },
  'malformed-http': { when: 'the request is not valid HTTP', next: 'Check the client or the proxy in front.' },
  'slow-request': { when: 'head and body took longer than 30 seconds', next: 'Send the request again.' },
  'compressed-only': {
    when: 'the client refuses gzip for the script of the API reference',
    next: 'Send `Accept-Encoding: gzip`, or no such header.',
  },
  'head-too-large': { when: 'the headers are larger than 16 KB', next: 'Send fewer or shorter headers.' },
  'invalid-path': {
    when: 'a prompt cannot be created at this path',
    next: 'Use letters, numbers, `.`, `-` and `_`, with `/` between folders.',
  },
  'path-too-long': { when: 'the path of a prompt is too long', next: 'Use a path of at most `details.limit` bytes.' },
  'repeated-path': { when: 'two changes name the same path', next: 'Send one change per path.' },
  'merged-version': { when: 'the version is merged', next: 'Create a draft and change that.' },
  'merged-without-force': {
    when: 'the version is merged and `force` is not set',
    next: 'Create a draft and change that, or send `force: true` to edit the merged version in place.',
  },
  'live-hash-of-merged': { when: '`liveHash` was sent for a merged version', next: 'Leave `liveHash` out.' },
  'not-a-draft': { when: 'the version is merged, `live` or unknown', next: 'Publish the uuid of a draft.' },
  'messages-with-steps': {
    when: '`messages` was sent for a prompt that uses `<step>`',
    next: 'Leave `messages` out, or remove the steps from the prompt.',
  },
  'wrong-project-name': { when: '`name` is not the name of the project', next: 'Send the exact name of the project.' },
  'unknown-tool-call': {
    when: 'a tool result names a call that is not in the conversation',
    next: 'Answer the calls listed in the conversation.',
  },

  'no-key': {
    when: 'no bearer token was sent, and no cookie of an open console session with `X-Stet-Console: 1`',
    next: 'Send `Authorization: Bearer <API key>`; in the console, sign in again.',
  },
  'other-person': {
    when: 'the session of the cookie belongs to another author than `X-Stet-Author` names',
    next: 'Load the page again, which then works for the person who has signed in.',
  },
  'unknown-key': {
    when: 'the API key is unknown, malformed, revoked or expired',
    next: 'Check the key, or have an admin issue another one.',
  },
  'sign-in-refused': {
    when: 'the code of the sign-in link or the API key is unknown, used, expired or revoked',
    next: 'Create another link with `stet console`, or check the key.',
  },
  'wrong-metrics-token': {
    when: 'the token differs from the configured one',
    next: 'Send the value of `STET_METRICS_TOKEN`.',
  },

  'missing-scope': { when: 'the key lacks the scope', next: 'Use a key with the scope in `details.required`.' },
  'missing-publish-scope': {
    when: '`force` on a merged version also needs the scope `publish`',
    next: 'Use a key with the scope `publish`, or change a draft.',
  },
  'restricted-key': { when: 'the key is restricted to one project', next: 'Use a key of the whole workspace.' },
  'metrics-loopback-only': {
    when: 'no metrics token is configured and the caller is on another machine',
    next: 'Set `STET_METRICS_TOKEN` and send it as bearer token.',
  },

  'unknown-route': { when: 'the API has no such path', next: 'Check the path against the OpenAPI document.' },
  'unknown-project': { when: 'the project is unknown', next: listFirst },
  'unknown-version': { when: 'the version is unknown', next: listFirst },
  'nothing-live': { when: '`live` was asked for in a project that never published', next: 'Publish a draft first.' },
  'unknown-document': {
    when: 'the prompt is unknown',
    next: 'Check path and version; `details.suggestions` lists similar paths.',
  },
  'unknown-document-uuid': { when: 'no prompt of the project has this uuid', next: listFirst },
  'unknown-conversation': { when: 'the conversation is unknown', next: listFirst },
  'unknown-evaluation': { when: 'the evaluation is unknown', next: listFirst },
  'unknown-example': { when: 'the example is unknown', next: listFirst },
  'unknown-api-key': { when: 'the API key to change is unknown', next: listFirst },
  'unknown-session': { when: 'the session has ended, or is not in your list of sessions', next: 'List the sessions.' },
  'unknown-provider-key': { when: 'the provider key is unknown', next: listFirst },
  'unissued-tool-call': { when: 'no run issued this tool call', next: 'Answer a call that the run has requested.' },
  erased: {
    when: 'the project or conversation of the first request with this `Idempotency-Key` was deleted less than 24 hours ago',
    next: 'Use a new key to do the work again.',
  },

  'method-not-allowed': { when: 'the path exists, but not with this method', next: 'Use a method in `details.allow`.' },

  'idempotency-in-progress': {
    when: 'the first request with this `Idempotency-Key` is in progress',
    next: wait,
  },
  'idempotency-unreadable': {
    when: 'the response stored for this `Idempotency-Key` was sealed with an encryption key that the server no longer has',
    next: 'The work was done once. Look at its result before you repeat it with a new key.',
  },
  'path-taken': { when: 'there is a prompt at the path', next: 'Update that prompt, or choose another path.' },
  'version-uuid-taken': {
    when: 'the uuid of an imported version is in use on the server',
    next: 'Import it without `uuid`.',
  },
  'base-changed': {
    when: 'the prompt has changed since `baseHash`',
    next: 'Read the prompts in `details.conflicts` again, merge, and send the new hashes.',
  },
  'live-text-changed': {
    when: 'the live text has changed since `liveHash`',
    next: "Merge live's new text and send its hash.",
  },
  'live-changed': {
    when: 'live changed a prompt that the draft also changes',
    next: "Merge live's texts into the draft (`details.conflicts`), or publish with `force`.",
  },
  'draft-kept-changing': { when: 'the draft kept changing while it was compiled', next: 'Publish again.' },
  'conversation-busy': { when: 'a run of the conversation is active', next: 'Wait for its end, or stop it.' },
  'project-busy': { when: 'runs of the project are active', next: 'Wait for their end, or stop them.' },
  'revoked-key': { when: 'the key is revoked', next: 'Create a new key.' },
  'expired-key': { when: 'the key has expired', next: 'Create a new key.' },
  'last-admin-key': { when: 'it is the last admin key', next: 'Create another admin key first.' },
  'name-taken': { when: 'there is a provider key with this name', next: 'Choose another name.' },
  'example-name-taken': {
    when: 'the prompt has an example with this name',
    next: 'Choose another name, or change that example.',
  },
  'too-many-examples': {
    when: 'the prompt would have more than 200 examples, or more than 4 MB of parameters and messages in them',
    next: 'Delete an example first.',
  },
  'built-in-provider-key': {
    when: 'the provider key comes from the environment or is `demo`',
    next: 'Change the environment of the server, or create a key with another name.',
  },

  'if-match-failed': { when: '`If-Match` does not match', next: 'Read the prompt again and send its new `ETag`.' },
  'if-none-match-failed': { when: '`If-None-Match` does not match', next: 'The prompt exists: update it instead.' },

  'list-too-large': {
    when: 'the prompts of the list, with their references inlined, exceed 64 MB of JSON',
    next: 'Repeat the request with `resolved=false`, or read pages with `limit` and `cursor`.',
  },
  'body-too-large': { when: 'the body exceeds its limit', next: 'Send less than `details.limit` bytes at once.' },

  'unsupported-content-type': {
    when: 'the body is not sent as JSON',
    next: 'Send `Content-Type: application/json`.',
  },
  'unsupported-content-encoding': {
    when: 'the server does not support the compression of the body',
    next: 'Use `gzip`, `deflate` or `br`.',
  },

  'idempotency-key-reused': {
    when: '`Idempotency-Key` was used with a different request',
    next: 'Use a new key for each new request.',
  },
  'release-refused': {
    when: 'a check that `block` names has findings of the level `break`',
    next: 'Fix the findings in `details.checks`.',
  },
  'draft-does-not-compile': {
    when: 'prompts of the draft do not compile',
    next: 'Fix the errors in `details.documents`.',
  },
  'missing-parameters': { when: 'parameters are missing', next: 'Send the parameters in `details.missing`.' },
  'invalid-parameters': {
    when: 'a parameter has the wrong type',
    next: 'Send the types in `details.invalid`.',
  },
  'score-out-of-range': { when: 'the score is out of range', next: 'Send a score from `min` to `max`.' },
  'score-not-binary': { when: 'the score of a binary evaluation is neither 0 nor 1', next: 'Send 0 or 1.' },
  'prompt-does-not-compile': {
    when: '`DocumentRunError` `chain_compile_error`: the prompt does not parse',
    next: 'Fix the prompt at `details.line`.',
  },
  'run-failed': {
    when: '`DocumentRunError`: the run failed or was stopped',
    next: 'Act on the `errorCode`; see below.',
  },

  'rate-limited': { when: 'the key exceeded its rate limit', next: wait },
  'failed-authentications': { when: 'too many invalid keys came from this address', next: wait },
  'too-many-bytes': { when: 'the key sent too many bytes in large bodies', next: wait },
  'workspace-full': {
    when: 'the workspace stores more than `STET_WORKSPACE_MAX_MB`; a request that would store more is refused before any work',
    next: 'Delete conversations or projects, or ask the operator for a higher limit. Reads and deletions still work. Deleted data is subtracted within about two minutes.',
  },
  'too-many-streams': { when: 'the key has too many open event streams', next: 'Close streams, then repeat.' },

  unforeseen: {
    when: 'something unforeseen failed; `details.requestId` identifies it in the log',
    next: 'Give the operator `details.requestId`. The work may have been done.',
  },
  'run-not-stored': {
    when: 'a run, or its end, could not be stored',
    next: 'Check the conversation before you start a new run. The provider may have been paid.',
  },

  'not-ready': { when: '`details.checks` names what failed', next: 'Send requests to another instance, or wait.' },
  'server-stopping': { when: 'the server is stopping', next: wait },
  'database-unavailable': { when: 'the database is not available to this server', next: wait },
  'disk-full': {
    when: 'the database has no room for writes',
    next: 'Ask the operator to free disk space. Reads still work.',
  },
  'queue-full': { when: 'the key has too many queued runs', next: wait },
  'queue-unavailable': { when: 'several servers share the database and their Redis does not answer', next: wait },
  'too-many-evaluations': {
    when: 'the key, its workspace or the server has too many prompt evaluations queued or running',
    next: wait,
  },
  'too-many-unread-responses': {
    when: 'too many large responses are waiting to be read by clients',
    next: 'Read responses to their end, then repeat the request.',
  },
  'run-out-of-reach': { when: 'another process supervises the run', next: wait },
  'client-disconnected': { when: 'the client closed the connection', next: 'Nothing: the client is gone.' },
} as const satisfies Record<ErrorCause, Explanation>

export const RUN_ERROR_DOCS = {
  chain_compile_error: {
    when: 'the prompt does not parse, or fails while it is rendered',
    next: 'Fix the prompt at `details.line`.',
  },
  document_config_error: { when: 'the front matter is incomplete or invalid', next: 'Fix the key in `details.key`.' },
  missing_provider_error: {
    when: 'the provider that the prompt names is not configured',
    next: 'Add a provider key, or name one of `details.configured`.',
  },
  ai_provider_config_error: {
    when: 'the provider key has invalid settings or an unreadable token',
    next: 'Check it with `stet providers test <name>`; change it with `stet providers update`.',
  },
  ai_run_error: {
    when: 'the provider refused the request or failed, or the event log of the run became too large',
    next: "Read `details.providerMessage`, the provider's original message.",
  },
  rate_limit_error: {
    when: 'the provider returned 429, also after retries',
    next: 'Wait, or raise your quota at the provider.',
  },
  max_step_count_exceeded_error: {
    when: 'the run reached its limit of model calls',
    next: 'Raise `maxSteps` in the prompt, or simplify its tools.',
  },
  invalid_response_format_error: {
    when: 'the model did not return JSON that matches the schema of the prompt',
    next: 'Read `details.issues` and `details.text`; change the schema or the instructions.',
  },
  unsupported_provider_response_type_error: {
    when: 'the response contains content that stet cannot represent',
    next: 'Ask the model for text.',
  },
  unsupported_feature_error: { when: 'stet does not offer the feature', next: 'Remove `details.feature`.' },
  abort_error: {
    when: 'the run was stopped (`details.reason` is `stop`), or its last reader disconnected (`disconnect`)',
    next: 'Run again if that was unintended.',
  },
  run_timeout_error: { when: 'the run exceeded its time limit', next: 'Shorten the run, or raise the limit.' },
  worker_lost: { when: 'the process that supervised the run died', next: 'Run again.' },
  unknown_error: {
    when: 'the prompt made no model call, the run could not be stored (`details.reason` is `run-not-stored`), or something unforeseen failed',
    next: 'Read the message. If the run was not stored, check the conversation before you start a new run.',
  },
} as const satisfies Record<RunErrorCode, Explanation>
