export type { UIMessageChunk, UIMessageSource } from './ui-message-stream.ts'
export { toUIMessageStream, toUIMessageStreamResponse } from './ui-message-stream.ts'
