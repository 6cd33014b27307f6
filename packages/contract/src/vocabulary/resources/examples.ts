import type { Message, MessageInput } from '../message.ts'
import type { Person } from './person.ts'

/**
 * The limits of examples. `bytes` counts the parameters and messages of one example together, as JSON in UTF-8.
 * `bytesPerPrompt` counts those of all examples of a prompt, which a list returns at once.
 */
export const EXAMPLE_LIMITS = { bytes: 262_144, perPrompt: 200, bytesPerPrompt: 4_194_304 } as const

/**
 * Saved inputs of a prompt, under a name.
 * @example const { messages } = await stet.prompts.run('support/reply', { parameters: example.parameters })
 */
export interface Example {
  uuid: string
  documentUuid: string
  /** Unique within the prompt. */
  name: string
  parameters: Record<string, unknown>
  /** Messages that follow the prompt's own. Empty if there are none. */
  messages: Message[]
  /** Who created the example. */
  author: Person
  createdAt: string
  updatedAt: string
}

/** @example { documentUuid, name: 'Angry customer', parameters: { ticket: 'Where is my order?' } } */
export interface CreateExampleBody {
  documentUuid: string
  name: string
  parameters: Record<string, unknown>
  messages?: MessageInput[]
}

/**
 * Changes an example. Absent fields stay unchanged.
 * @example { name: 'Angry customer', messages: [] }
 */
export interface UpdateExampleBody {
  name?: string
  parameters?: Record<string, unknown>
  /** An empty list removes the messages. */
  messages?: MessageInput[]
}

export interface ListExamplesQuery {
  documentUuid: string
}

export interface DeletedExample {
  uuid: string
}
