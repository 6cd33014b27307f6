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

export type ExampleChange = Partial<Pick<Example, 'name' | 'parameters' | 'messages'>> & Pick<Example, 'updatedAt'>

export interface ExampleStore {
  /** Oldest first. */
  list(workspaceId: number, projectId: number, documentUuid: string): Promise<Example[]>
  /** Returns the number of the prompt's examples, and the bytes of their parameters and messages as JSON. */
  totals(workspaceId: number, projectId: number, documentUuid: string): Promise<{ count: number; bytes: number }>
  findOptional(workspaceId: number, projectId: number, uuid: string): Promise<Example | null>
  /** @throws AppError ConflictError for a taken name. */
  create(workspaceId: number, example: Example): Promise<void>
  /** @throws AppError NotFoundError; ConflictError for a taken name. */
  update(workspaceId: number, projectId: number, uuid: string, change: ExampleChange): Promise<Example>
  /** Returns false for an unknown example. */
  delete(workspaceId: number, projectId: number, uuid: string): Promise<boolean>
}

/** @throws AppError BadRequestError if parameters and messages together are too large. */
export function assertSize({ parameters, messages }: Pick<Example, 'parameters' | 'messages'>): void {
  const { bytes } = EXAMPLE_LIMITS
  const size = Buffer.byteLength(JSON.stringify(parameters)) + Buffer.byteLength(JSON.stringify(messages))
  if (size <= bytes) return
  throw refuse('invalid-body', issueAt('parameters', `must have at most ${bytes} bytes as JSON, with the messages`))
}
