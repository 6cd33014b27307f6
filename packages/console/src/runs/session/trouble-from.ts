import { ApiError, StreamInterruptedError } from '@stet/sdk'
import { messageOf } from '../../app/failure.tsx'
import { type RunTrouble, troubleOf } from '../follow-run.ts'

/** The pane's message about a refused request or a lost connection. */
export function troubleFrom(error: unknown): RunTrouble {
  if (error instanceof ApiError) {
    const { errorCode, details, requestId, serverResponse } = error
    return troubleOf(wordsOf(serverResponse) ?? error.message, errorCode, details, requestId)
  }
  const isLost = error instanceof StreamInterruptedError
  const message = isLost ? 'The connection to the server was lost. The run may still be active.' : messageOf(error)
  return { ...troubleOf(message, '', null), isLost }
}

/** The message of an error body. The SDK's message repeats what the pane shows beside it. */
function wordsOf(body: string): string | undefined {
  try {
    const { message } = JSON.parse(body)
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
