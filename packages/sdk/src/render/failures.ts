import { ConfigurationError, RunError, UnprocessableEntityError } from '../index.ts'

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

export function invalidContent(message: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError(message, { cause })
}

export function unsupported(format: string, content: string): ConfigurationError {
  return invalidContent(`The message format ${format} does not support ${content}`)
}
