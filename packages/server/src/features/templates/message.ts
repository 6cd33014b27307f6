/** Messages have their wire form: the content is a list of parts, and unknown keys are kept. */
export type { Message, MessagePart, Role, ToolCall } from '@stet/contract/vocabulary'
