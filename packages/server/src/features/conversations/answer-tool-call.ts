/** Takes the result of a tool call that a run waits for: stored first, then the run is woken. The first result counts. */
import { notFound } from '../../shared/app-error.ts'
import type { Caller, Needs } from '../deps.ts'
import { deletedProjects } from '../documents/version-ref.ts'

export interface AnswerToolCallInput {
  caller: Caller
  toolCallId: string
  result: unknown
  isError: boolean
}

/**
 * Results that come too late, or for a call that does not wait, are accepted and change nothing.
 * @throws AppError NotFoundError for an id that no run of the workspace issued, as far as the key sees them.
 */
export async function answerToolCall(
  deps: Needs<'toolCalls' | 'toolSignals' | 'stores' | 'liveCache' | 'clock'>,
  { caller, toolCallId, result, isError }: AnswerToolCallInput,
): Promise<void> {
  const { workspaceId } = caller
  const projectId = await deps.toolCalls.findProject(workspaceId, toolCallId)
  const isSeen = projectId !== null && (caller.projectId === null || caller.projectId === projectId)
  if (!isSeen || (await deletedProjects(deps)).has(projectId)) {
    throw notFound('Tool call not found')
  }
  const answer = { id: toolCallId, workspaceId, result, isError, answeredAt: deps.clock.now() }
  if (await deps.toolCalls.answer(answer)) deps.toolSignals.notify(toolCallId)
}
