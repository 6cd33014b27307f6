import type { ApiError } from '@stet/sdk'
import type { EndSignal } from './io.ts'

export const exitCodes = {
  success: 0,
  unexpected: 1,
  usage: 2,
  differences: 3,
  not_allowed: 4,
  not_found: 5,
  conflict: 6,
  invalid: 7,
  run_failed: 8,
  unreachable: 9,
  rate_limited: 10,
  verdict_failed: 11,
  inconclusive: 12,
  interrupted: 130,
  terminated: 143,
} as const

export type FailureCode = Exclude<keyof typeof exitCodes, 'success'>

export function codeOfSignal(signal: EndSignal): FailureCode {
  return signal === 'SIGINT' ? 'interrupted' : 'terminated'
}

/** The message explains what failed and why. The hint names the next step. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly code: FailureCode
  readonly hint: string | undefined
  readonly lines: readonly string[]

  constructor(
    code: FailureCode,
    message: string,
    more: { hint?: string; lines?: readonly string[]; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.code = code
    this.hint = more.hint
    this.lines = more.lines ?? []
  }
}

export interface Failure {
  code: FailureCode
  exitCode: number
  message: string
  lines: readonly string[]
  next?: string
  errorCode?: string
  status?: number
  requestId?: string
}

export async function describeFailure(error: unknown): Promise<Failure> {
  if (error instanceof CliError) {
    return failure(error.code, error.message, { lines: error.lines, ...(error.hint && { next: error.hint }) })
  }
  // Imported on demand, so that commands without requests start without the SDK.
  const sdk = await import('@stet/sdk')
  if (error instanceof sdk.ApiError) return describeAnswer(error, error instanceof sdk.RunError)
  if (error instanceof sdk.StreamInterruptedError) {
    const uuid = error.conversationUuid
    return failure('unreachable', error.message, {
      next: uuid ? `run stet attach ${uuid}  (the run may continue on the server)` : 'run the command again',
    })
  }
  if (error instanceof sdk.ConnectionError) {
    return failure('unreachable', error.message, {
      next: 'check that the server runs and that --base-url is its address',
    })
  }
  if (error instanceof sdk.ConfigurationError) return failure('usage', error.message)
  if (error instanceof sdk.AbortError) return failure('interrupted', error.message)
  return failure('unexpected', error instanceof Error ? error.message : String(error))
}

type ServerAnswer = Pick<ApiError, 'status' | 'errorCode' | 'message' | 'requestId' | 'serverResponse' | 'details'>

function describeAnswer(error: ServerAnswer, isRunError: boolean): Failure {
  // A prompt that does not compile fails before its run starts, although the SDK throws a RunError.
  const hasRun = isRunError && error.errorCode !== 'chain_compile_error'
  const code = hasRun ? 'run_failed' : codeOfStatus(error.status)
  const message = hasRun ? withoutRequestId(error) : messageOf(error.serverResponse)
  const next =
    message === undefined ? 'check that --base-url is the address of a stet server' : nextStep(code, error.details)
  return failure(code, message ?? error.message, {
    errorCode: error.errorCode,
    status: error.status,
    lines: documentLines(error.details),
    ...(next && { next }),
    ...(error.requestId && { requestId: error.requestId }),
  })
}

export function codeOfStatus(status: number): FailureCode {
  if (status === 401 || status === 403) return 'not_allowed'
  if (status === 404) return 'not_found'
  if (status === 409 || status === 412) return 'conflict'
  if (status === 400 || status === 413 || status === 415 || status === 422) return 'invalid'
  if (status === 429) return 'rate_limited'
  return status >= 502 && status <= 504 ? 'unreachable' : 'unexpected'
}

// Keeps the SDK's message of a failed run, which names the provider and the prompt. Removes the request id, because it
// is printed separately.
function withoutRequestId({ message, requestId }: ServerAnswer): string {
  const suffix = ` [${requestId}]`
  return message.endsWith(suffix) ? message.slice(0, -suffix.length) : message
}

// Returns the server's own message, because the SDK's message adds status and request id. Returns undefined for other
// responses, such as a proxy's error page.
function messageOf(serverResponse: string): string | undefined {
  try {
    const body: unknown = JSON.parse(serverResponse)
    return isRecord(body) && typeof body['message'] === 'string' ? body['message'] : undefined
  } catch {
    return undefined
  }
}

function nextStep(code: FailureCode, given: unknown): string | undefined {
  const { suggestions, missing, conflicts, provider, status, required, experimentUuid } = isRecord(given) ? given : {}
  if (Array.isArray(suggestions) && suggestions.length > 0) return `did you mean ${suggestions.join(', ')}?`
  if (Array.isArray(missing) && missing.length > 0) return `pass ${missing.map((name) => `-p ${name}=…`).join(' ')}`
  if (code === 'not_allowed' && typeof required === 'string') {
    return `use a key with the scope ${required}; stet whoami lists the scopes of this key`
  }
  if (code === 'not_allowed') return 'run stet login, or use another key'
  if (code === 'conflict' && listOf(conflicts).length > 0) return 'run stet pull, then try again'
  if (code === 'conflict' && typeof experimentUuid === 'string') return `run stet eval watch ${experimentUuid}`
  if (code === 'run_failed' && provider !== undefined && (status === 401 || status === 403)) {
    return `check the provider key: stet providers test ${provider}`
  }
  return undefined
}

function documentLines(details: unknown): string[] {
  if (!isRecord(details)) return []
  const conflicts = listOf(details['conflicts']).map((entry) => String(entry['path']))
  const issues = listOf(details['documents']).flatMap((entry) =>
    listOf(entry['errors']).map((issue) => `${entry['path']}:${issue['line']}:${issue['column']} ${issue['message']}`),
  )
  const { path, line, column, frame } = details
  const place = typeof line === 'number' ? [`${path}:${line}:${column}`, ...String(frame ?? '').split('\n')] : []
  return [...conflicts, ...issues, ...place]
}

function failure(code: FailureCode, message: string, more: Partial<Failure> = {}): Failure {
  return { code, exitCode: exitCodes[code], message, lines: [], ...more }
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
