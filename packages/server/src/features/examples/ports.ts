import type { Example } from './example.ts'

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
