/**
 * The state of the latest run of a conversation.
 *
 *     queued ──▶ running ──▶ completed | error | stopped
 *        └───────────────────────────────▶ stopped
 */
export const RUN_STATES = ['queued', 'running', 'completed', 'error', 'stopped'] as const
export type RunState = (typeof RUN_STATES)[number]

/** How a conversation started. A `log` was recorded from outside and never ran. */
export const CONVERSATION_ORIGINS = ['run', 'background', 'log'] as const
export type ConversationOrigin = (typeof CONVERSATION_ORIGINS)[number]
