import { ApiError, ConnectionError } from '@stet/sdk'
import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { ErrorDetails, Notice } from '../ui/states.tsx'
import { ConsoleError } from './session.ts'

interface FailureProps {
  error: unknown
  /** The failed action, for example "The prompts could not be loaded". */
  what?: string
  onRetry?: (() => void) | undefined
  /** The words of the button. */
  retry?: string
  children?: ReactNode
}

/** An error at the place where it occurred: the server's message, and what can be done. */
export function Failure({ error, what, onRetry, retry = 'Try again', children }: FailureProps) {
  return (
    <Notice tone="red" urgent actions={onRetry && <Button onClick={onRetry}>{retry}</Button>}>
      {what && <strong>{what}. </strong>}
      {messageOf(error)}
      {children}
      <DetailsOf error={error} />
    </Notice>
  )
}

/** Returns what the server says about one field of the request, from `details.issues`, or undefined. */
export function issueOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const { issues } = (error.details ?? {}) as { issues?: { path?: unknown[]; message?: string }[] }
  return issues?.find(({ path }) => path?.at(-1) === field)?.message
}

/** The server's error code and the id of the request, behind a button. */
export function DetailsOf({ error }: { error: unknown }) {
  const isAnswer = error instanceof ApiError || error instanceof ConsoleError
  return isAnswer && <ErrorDetails code={error.errorCode} requestId={error.requestId} />
}

/** The server's message, without the status and the request id that the SDK adds. */
export function messageOf(error: unknown): string {
  if (error instanceof ConnectionError) return 'The server is not responding.'
  if (error instanceof ApiError) return error.message.replace(/^\d{3} /, '').replace(/ \[[^\]]*\]$/, '')
  return error instanceof Error ? error.message : String(error)
}
