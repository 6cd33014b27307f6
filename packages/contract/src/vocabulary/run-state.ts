/**
 * The state of a conversation's latest run.
 *
 *     queued ──▶ running ──▶ completed | error | stopped
 *        └───────────────────────────────▶ stopped
 */
export const RUN_STATES = ['queued', 'running', 'completed', 'error', 'stopped'] as const
export type RunState = (typeof RUN_STATES)[number]

/** How a conversation started. A `log` is an external log: stet did not run it. */
export const CONVERSATION_ORIGINS = ['run', 'background', 'log'] as const
export type ConversationOrigin = (typeof CONVERSATION_ORIGINS)[number]

/** Who sent a request: `console` for a session of the console, `api` for an API key. */
export const REQUEST_CHANNELS = ['api', 'console'] as const
export type RequestChannel = (typeof REQUEST_CHANNELS)[number]
