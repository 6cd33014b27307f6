export { RunChatTransport, type RunChatTransportOptions } from './run-chat-transport.ts'
export type { UIMessageOptions, UIMessageSource } from './ui-message-stream.ts'
export { toUIMessageStream, toUIMessageStreamResponse } from './ui-message-stream.ts'
export type { UIMessageChunk } from './ui-message-writer.ts'
