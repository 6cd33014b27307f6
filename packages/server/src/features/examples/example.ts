/** Saved inputs of a prompt. Examples belong to the prompt, not to one of its versions. */

import type { Message } from '@stet/contract/vocabulary'
import { EXAMPLE_LIMITS } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Author } from '../../shared/caller.ts'

export interface Example {
  uuid: string
  workspaceId: number
  projectId: number
  documentUuid: string
  author: Author
  name: string
  parameters: Record<string, unknown>
  messages: Message[]
  createdAt: Date
  updatedAt: Date
}

/** @throws AppError BadRequestError if parameters and messages together are too large. */
export function assertSize({ parameters, messages }: Pick<Example, 'parameters' | 'messages'>): void {
  const { bytes } = EXAMPLE_LIMITS
  const size = Buffer.byteLength(JSON.stringify(parameters)) + Buffer.byteLength(JSON.stringify(messages))
  if (size <= bytes) return
  throw refuse('invalid-body', issueAt('parameters', `must have at most ${bytes} bytes as JSON, with the messages`))
}
