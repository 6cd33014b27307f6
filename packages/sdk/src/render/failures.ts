import { RunError, UnprocessableEntityError } from '../index.ts'

// No request was sent, so the response fields are empty.
const NOWHERE = { status: 422, requestId: null, serverResponse: '', method: '', url: '', attempts: 0 }

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

export function refusedParameters({ message, ...details }: { message: string }): UnprocessableEntityError {
  return new UnprocessableEntityError({
    ...NOWHERE,
    headers: new Headers(),
    errorCode: 'UnprocessableEntityError',
    message,
    details,
  })
}
