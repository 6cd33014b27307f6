/** Saved inputs of a prompt and what is expected of the answer. They belong to the prompt, not to one of its versions. */

import type { CannedResult, Check, Message } from '@stet/contract/vocabulary'
import { EXAMPLE_LIMITS } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Author } from '../../shared/caller.ts'

/** The fields that a request sets. */
export interface ExampleFields {
  name: string
  parameters: Record<string, unknown>
  messages: Message[]
  /** Text or any JSON. Null if nothing is expected. */
  expected: unknown
  checks: Check[]
  /** By the name of the client tool. */
  toolResults: Record<string, CannedResult[]>
  tags: string[]
  /** Lists are in this order. Examples at the same place are in the order of their creation. */
  position: number
}

export interface Example extends ExampleFields {
  uuid: string
  workspaceId: number
  projectId: number
  documentUuid: string
  author: Author
  /** The run that it was saved from. The run may be deleted. */
  sourceRunUuid: string | null
  createdAt: Date
  updatedAt: Date
}

type Value = 'parameters' | 'messages' | 'expected' | 'checks' | 'toolResults'

/** An example without its values, which may have 256 KB. */
export interface ExampleSummary extends Omit<Example, Value | 'workspaceId' | 'projectId'> {
  hasMessages: boolean
  hasExpected: boolean
  hasToolResults: boolean
  checkCount: number
}

export type ExampleChange = Partial<ExampleFields> & Pick<Example, 'updatedAt'>

/** What an example takes from a run. */
export interface SourceRun {
  uuid: string
  conversationUuid: string
  documentUuid: string
  path: string
  isEnded: boolean
  /** Null if they were not kept, and for a chat. */
  parameters: Record<string, unknown> | null
  /** The caller's messages. */
  given: Message[]
  /** All messages of the run. */
  messages: Message[]
  /** The configuration of its prompt. */
  config: Record<string, unknown>
  /** Text, or the object of a structured answer. Null without an answer. */
  answer: unknown
}

export interface ExampleStore {
  /** In order. Reads a few at a time, because all of a prompt may have 16 MB. */
  list(workspaceId: number, projectId: number, documentUuid: string): AsyncIterable<Example>
  /** In order. */
  listSummaries(workspaceId: number, projectId: number, documentUuid: string): Promise<ExampleSummary[]>
  /** Returns the number of the prompt's examples, and the bytes that `bytesOf` counts. */
  totals(workspaceId: number, projectId: number, documentUuid: string): Promise<{ count: number; bytes: number }>
  /** Returns the position after all others. */
  nextPosition(workspaceId: number, projectId: number, documentUuid: string): Promise<number>
  findOptional(workspaceId: number, projectId: number, uuid: string): Promise<Example | null>
  listNamed(workspaceId: number, projectId: number, documentUuid: string, names: readonly string[]): Promise<Example[]>
  findSource(workspaceId: number, projectId: number, runUuid: string): Promise<SourceRun | null>
  /** Returns those that are not deleted. They cannot be deleted before the end of the transaction. */
  lockConversations(workspaceId: number, uuids: readonly string[]): Promise<Set<string>>
  /** Returns those of the runs from which their prompts already have an example. */
  listSavedRuns(workspaceId: number, projectId: number, runUuids: readonly string[]): Promise<Set<string>>
  /** @throws AppError ConflictError for a taken name. */
  create(workspaceId: number, example: Example): Promise<void>
  /** All belong to one project. Their names must be free. */
  createMany(workspaceId: number, examples: readonly Example[]): Promise<void>
  /** @throws AppError NotFoundError; ConflictError for a taken name. */
  update(workspaceId: number, projectId: number, uuid: string, change: ExampleChange): Promise<Example>
  /** Returns false for an unknown example. */
  delete(workspaceId: number, projectId: number, uuid: string): Promise<boolean>
  /** Returns how many of the prompt's examples it deleted. */
  deleteMany(workspaceId: number, projectId: number, documentUuid: string, uuids: readonly string[]): Promise<number>
}

export const emptyFields = {
  parameters: {},
  messages: [],
  expected: null,
  checks: [],
  toolResults: {},
  tags: [],
} satisfies Omit<ExampleFields, 'name' | 'position'>

/** The bytes of the values as JSON. Names and tags have limits of their own. Empty checks and results count nothing. */
export function bytesOf({ parameters, messages, expected, checks, toolResults }: Pick<Example, Value>): number {
  const values = [parameters, messages, checks, toolResults, ...(expected === null ? [] : [expected])]
  return values.reduce<number>((sum, value) => sum + jsonBytes(value), -'[]{}'.length)
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** @param path of the example in the request. @throws AppError BadRequestError if its values together are too large. */
export function assertSize(example: Pick<Example, Value>, path = 'parameters'): void {
  const { bytes } = EXAMPLE_LIMITS
  if (bytesOf(example) > bytes)
    throw refuse('invalid-body', issueAt(path, `must have at most ${bytes} bytes as JSON, with the other fields`))
}

/** Returns the tags without duplicates. */
export function ownTags(tags: readonly string[]): string[] {
  return [...new Set(tags)]
}
