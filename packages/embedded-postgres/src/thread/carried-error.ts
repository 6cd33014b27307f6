import { DriverAdapterError, isDriverAdapterError } from '@prisma/driver-adapter-utils'
import { DamagedDatabaseError, EmbeddedPostgresError, isDamage } from '../failure.ts'

type Field = string | number | boolean

/** An error in a form that can be sent between threads. Structured clone would lose its class and fields. */
export interface CarriedError {
  kind: 'driver' | 'operator' | 'other'
  message: string
  stack: string | undefined
  fields: Record<string, Field>
  cause?: DriverAdapterError['cause']
  damage?: Pick<DamagedDatabaseError, 'kind' | 'lostUpTo'>
}

/** Fields that PGlite adds and the caller already has. */
const OF_THE_CALLER = new Set(['query', 'params', 'queryOptions'])

export function carryError(error: unknown): CarriedError {
  if (!(error instanceof Error)) return { kind: 'other', message: String(error), stack: undefined, fields: {} }
  const { message, stack } = error
  if (isDriverAdapterError(error)) return { kind: 'driver', message, stack, fields: {}, cause: error.cause }
  const kind = error instanceof EmbeddedPostgresError ? 'operator' : 'other'
  const carried: CarriedError = { kind, message, stack, fields: plainFields(error) }
  if (!(error instanceof DamagedDatabaseError)) return carried
  return { ...carried, damage: { kind: error.kind, lostUpTo: error.lostUpTo } }
}

export function reviveError({ kind, message, stack, fields, cause, damage }: CarriedError): Error {
  if (damage) return new DamagedDatabaseError(message, damage.kind, damage.lostUpTo)
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

function plainFields(error: Error): Record<string, Field> {
  const plain: Record<string, Field> = {}
  for (const [name, value] of Object.entries(error)) {
    if (!OF_THE_CALLER.has(name) && isField(value)) plain[name] = value
  }
  return plain
}

function isField(value: unknown): value is Field {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
