import { RunError, UnprocessableEntityError } from '../index.ts'

// No request was sent, so the fields of a server response are empty.
const NOWHERE = { status: 422, requestId: null, serverResponse: '', method: '', url: '', attempts: 0 }

/** The error with which a run on the server would end. */
export function runFailure(errorCode: string, message: string, details: Record<string, unknown>): RunError {
  return new RunError({
    ...NOWHERE,
    headers: new Headers(),
    errorCode,
    message,
    details: { errorCode, ...details },
    partial: { text: '', conversation: [] },
  })
}

/** The error with which the server refuses parameters. */
export function refusedParameters({ message, ...details }: { message: string }): UnprocessableEntityError {
  return new UnprocessableEntityError({
    ...NOWHERE,
    headers: new Headers(),
    errorCode: 'UnprocessableEntityError',
    message,
    details,
  })
}
