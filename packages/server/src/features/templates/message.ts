/** Messages have the form of the wire everywhere: content is always a list of parts, and unknown keys are kept. */
export type { Message, MessagePart, Role, ToolCall } from '@stet/contract/vocabulary'
