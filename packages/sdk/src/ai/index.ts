export type { UIMessageChunk, UIMessageOptions, UIMessageSource } from './ui-message-stream.ts'
export { toUIMessageStream, toUIMessageStreamResponse } from './ui-message-stream.ts'
