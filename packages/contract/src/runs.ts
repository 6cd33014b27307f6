import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  ConversationParams,
  DocumentPath,
  JsonObject,
  LIMITS,
  orTap,
  type RouteMetadata,
  text,
  Uuid,
  VersionParams,
} from './common.ts'
import { RunState } from './conversations.ts'
import { withErrors } from './errors.ts'
import { MessageInput } from './message-input.ts'
import { BackgroundRun, RunResult } from './run-result.ts'

const c = initContract()

const toolName = text({ min: 1, max: LIMITS.toolNameLength }).refine((name) => !/\p{Cc}/u.test(name), {
  error: 'must not contain control characters',
})

const callerShape = {
  stream: z.boolean().default(false).meta({ description: 'Answers with the events of the run as they happen.' }),
  tools: z.array(toolName).max(LIMITS.toolNames).exactOptional().meta({
    description: 'Names of the tools that the caller runs and answers while the run waits.',
  }),
  mcpHeaders: JsonObject.exactOptional().meta({ description: 'Accepted, not used.' }),
}

/**
 * The body that runs a prompt.
 *
 * @example
 * { "path": "support/reply", "parameters": { "name": "Ada" }, "stream": true }
 */
export const RunDocumentBody = absent({
  path: DocumentPath,
  parameters: JsonObject.default({}).meta({ description: 'Values of the parameters by name.' }),
  ...callerShape,
  background: z.boolean().default(false).meta({ description: 'Answers at once; attach to the run for its result.' }),
  messages: z.array(MessageInput).max(LIMITS.messages).exactOptional().meta({
    description: 'Appended after the compiled prompt; not for prompts that use `<step>`.',
  }),
  userMessage: z.string().exactOptional().meta({ deprecated: true, description: 'Use `messages`.' }),
  customIdentifier: text({ max: LIMITS.customIdentifierLength }).exactOptional().meta({
    description: 'Kept with the conversation, to find it by.',
  }),
}).meta({ id: 'RunDocumentBody' })
export type RunDocumentBody = z.input<typeof RunDocumentBody>

/**
 * The body that continues a conversation.
 *
 * @example
 * { "messages": [{ "role": "user", "content": "And in French?" }] }
 */
export const ChatBody = absent({
  messages: z.array(MessageInput).min(1).max(LIMITS.messages).meta({ description: 'Appended to the conversation.' }),
  ...callerShape,
}).meta({ id: 'ChatBody' })
export type ChatBody = z.input<typeof ChatBody>

/**
 * The body that joins a run.
 *
 * @example
 * { "stream": true }
 */
export const AttachBody = absent({
  stream: z.boolean().default(false).meta({ description: 'Answers with the events, those after `Last-Event-ID`.' }),
}).meta({ id: 'AttachBody' })
export type AttachBody = z.input<typeof AttachBody>

/**
 * The answer to a stop.
 *
 * @example
 * { "uuid": "c1d2…", "stopped": true, "status": "stopped" }
 */
export const StopResult = z
  .object({
    uuid: Uuid,
    stopped: z.boolean().meta({ description: 'Whether this call stopped a run.' }),
    status: RunState,
  })
  .meta({ id: 'StopResult' })
export type StopResult = z.infer<typeof StopResult>

export const runs = c.router({
  run: {
    method: 'POST',
    path: '/projects/:projectId/versions/:versionUuid/documents/run',
    summary: 'Run a prompt',
    description:
      'Answers with the result, with the event stream (`stream`), or at once with the uuid of the conversation ' +
      '(`background`). A run that fails is 422 `DocumentRunError`, or a `chain-error` event in a stream.',
    pathParams: VersionParams,
    body: RunDocumentBody,
    responses: withErrors({ 200: orTap(z.union([RunResult, BackgroundRun])) }),
    metadata: {
      scope: 'run',
      rateLimited: true,
      idempotent: true,
      streams: true,
      showsMessages: true,
      errors: [
        'messages-with-steps',
        'unknown-document',
        'parameters',
        'prompt-does-not-compile',
        'run-failed',
        'queue-full',
        'too-many-evaluations',
      ],
    } as const satisfies RouteMetadata,
  },
  chat: {
    method: 'POST',
    path: '/conversations/:conversationUuid/chat',
    summary: 'Continue a conversation',
    description:
      'One model step on the whole conversation, with the configuration recorded when it started. 409 while a run ' +
      'of the conversation is active.',
    pathParams: ConversationParams,
    body: ChatBody,
    responses: withErrors({ 200: orTap(RunResult) }),
    metadata: {
      scope: 'run',
      rateLimited: true,
      idempotent: true,
      streams: true,
      showsMessages: true,
      errors: ['unknown-tool-call', 'conversation-busy', 'run-failed'],
    } as const satisfies RouteMetadata,
  },
  attach: {
    method: 'POST',
    path: '/conversations/:conversationUuid/attach',
    summary: 'Attach to a run',
    description:
      'The latest run of the conversation, queued, running or ended: its events from the first on, or those after ' +
      '`Last-Event-ID`; without `stream` its result. Text parts carry their text under `text` and `content`.',
    pathParams: ConversationParams,
    body: AttachBody,
    responses: withErrors({ 200: orTap(RunResult) }),
    metadata: {
      scope: 'run',
      rateLimited: true,
      idempotent: false,
      streams: true,
      showsMessages: true,
      resumes: true,
      errors: ['run-failed', 'run-out-of-reach'],
    } as const satisfies RouteMetadata,
  },
  stop: {
    method: 'POST',
    path: '/conversations/:conversationUuid/stop',
    summary: 'Stop a run',
    description:
      'Queued or running, in the foreground or the background; any body is ignored. Idempotent: an ended run stays ' +
      'as it is. The answer waits up to 2 seconds for the end.',
    pathParams: ConversationParams,
    body: c.noBody(),
    responses: withErrors({ 200: StopResult }),
    metadata: {
      scope: 'run',
      rateLimited: true,
      idempotent: false,
      streams: false,
      ignoresBody: true,
    } as const satisfies RouteMetadata,
  },
})
