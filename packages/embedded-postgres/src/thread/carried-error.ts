import { DriverAdapterError, isDriverAdapterError } from '@prisma/driver-adapter-utils'
import { DamagedDatabaseError, EmbeddedPostgresError, isDamage } from '../failure.ts'

type Field = string | number | boolean

/** An error in a form that can be sent between threads. Structured clone would lose its class and fields. */
export interface CarriedError {
  kind: 'driver' | 'damaged' | 'operator' | 'other'
  message: string
  stack: string | undefined
  fields: Record<string, Field>
  cause?: DriverAdapterError['cause']
}

/** Fields that PGlite adds and the caller already has. */
const OF_THE_CALLER = new Set(['query', 'params', 'queryOptions'])

export function carryError(error: unknown): CarriedError {
  if (!(error instanceof Error)) return { kind: 'other', message: String(error), stack: undefined, fields: {} }
  const { message, stack } = error
  if (isDriverAdapterError(error)) return { kind: 'driver', message, stack, fields: {}, cause: error.cause }
  return {
    kind: kindOf(error),
    message,
    stack,
    fields: plainFields(error),
  }
}

export function reviveError({ kind, message, stack, fields, cause }: CarriedError): Error {
  if (kind === 'damaged') {
    const { kind: damage, lostUpTo } = fields as unknown as Pick<DamagedDatabaseError, 'kind' | 'lostUpTo'>
    return new DamagedDatabaseError(message, damage, lostUpTo)
  }
  if (kind === 'operator') return new EmbeddedPostgresError(message)
  const error = cause ? new DriverAdapterError(cause) : Object.assign(new Error(message), fields)
  if (stack !== undefined) error.stack = stack
  return error
}

/** Returns PostgreSQL's message if the statement failed because of damaged files. */
export function damageOf({ kind, message, fields, cause }: CarriedError): string | undefined {
  if (kind !== 'driver' && kind !== 'other') return undefined
  const said = cause?.originalMessage ?? message
  return isDamage(cause?.originalCode ?? fields['code'], said) ? said : undefined
}

function kindOf(error: Error): CarriedError['kind'] {
  if (error instanceof DamagedDatabaseError) return 'damaged'
  return error instanceof EmbeddedPostgresError ? 'operator' : 'other'
}

function plainFields(error: Error): Record<string, Field> {
  const plain = Object.entries(error).filter(
    ([name, value]) => !OF_THE_CALLER.has(name) && ['string', 'number', 'boolean'].includes(typeof value),
  )
  return Object.fromEntries(plain) as Record<string, Field>
}
