import { isDriverAdapterError } from '@prisma/driver-adapter-utils'
import { AppError, OperatorError, refuse } from '../../shared/app-error.ts'

/** Codes with which Node, PostgreSQL, Prisma and the embedded database report an unavailable database. */
const awayCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'],
  ...['57P01', '57P02', '57P03', '53300', '08000', '08001', '08003', '08004', '08006'],
  ...['28000', '28P01', '3D000'],
  // The statement exceeded its time limit or waited too long for a lock.
  ...['57014', '55P03'],
  ...['P1001', 'P1002', 'P1017', 'P2024'],
  // The transaction got no connection in time, or a timeout rolled the transaction back. Nothing was written.
  'P2028',
  'DATABASE_SILENT',
])

/** PostgreSQL's code for `disk_full`. */
const diskFullCode = '53100'

const awayKinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'])

/** Messages of errors that pg reports without a code. */
const awayMessages =
  /^(Connection terminated|timeout (expired|exceeded when trying to connect)|Client has encountered a connection error|Cannot use a pool after calling end)/

/** Creates a 503. The driver's message stays in `cause` and is never sent to the client. */
export function databaseAway(cause?: unknown): AppError {
  return refuse('database-unavailable', {}, { cause })
}

export function diskFull(cause?: unknown): AppError {
  return refuse('disk-full', {}, { cause })
}

export function translateDatabaseError(error: unknown): unknown {
  const code = isDriverAdapterError(error) ? error.cause.originalCode : codeOf(error)
  if (code === diskFullCode) return diskFull(error)
  return isAway(error) ? databaseAway(error) : error
}

export async function translating<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw translateDatabaseError(error)
  }
}

function isAway(error: unknown): boolean {
  if (error instanceof AppError) return false
  if (isDriverAdapterError(error)) {
    return awayKinds.has(error.cause.kind) || awayCodes.has(error.cause.originalCode ?? '')
  }
  if (error instanceof AggregateError) return error.errors.some(isAway)
  if (awayCodes.has(codeOf(error) ?? '')) return true
  return error instanceof Error && awayMessages.test(error.message)
}

export function isUniqueViolation(error: unknown): boolean {
  if (isDriverAdapterError(error)) return error.cause.kind === 'UniqueConstraintViolation'
  const code = codeOf(error)
  return code === 'P2002' || code === '23505'
}

/** @throws AppError `cause` if the write violates a unique constraint; errors of `write`. */
export async function withUniqueName<T>(
  cause: 'name-taken' | 'example-name-taken',
  name: string,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw isUniqueViolation(error) ? refuse(cause, { name }) : error
  }
}

export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** PostgreSQL reads a page of zeros as an empty page, so its rows are missing without an error. */
export class LostRowsError extends OperatorError {
  constructor(reason: string) {
    super(`Rows of the database's own tables are missing: ${reason}`)
  }
}
