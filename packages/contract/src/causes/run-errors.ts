/** Why a run fails: the `errorCode` of a `DocumentRunError` and of a `chain-error` event. */
import type { Explanation } from './cause.ts'

export const RUN_ERRORS = {
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
    when: 'the prompt made no model call, the run could not be stored (`details.reason` is `run-not-stored`), or an unexpected error occurred',
    next: 'Read the message. If the run was not stored, check the conversation before you start a new run.',
  },
} as const satisfies Record<string, Explanation>
