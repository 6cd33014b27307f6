import { DriverAdapterError } from '@prisma/driver-adapter-utils'
import { expect, it } from 'vitest'
import { EmbeddedPostgresError } from '../src/failure.ts'
import { carryError, damageOf } from '../src/thread/carried-error.ts'

const raised = (code: string, message = 'said by PostgreSQL') => carryError(Object.assign(new Error(message), { code }))

it.each(['XX001', 'XX002', '58P01', '58030', 'XX000'])('takes %s for damage', (code) => {
  expect(damageOf(raised(code))).toBe('said by PostgreSQL')
  const cause = { kind: 'postgres', originalCode: code, originalMessage: 'said', code, severity: '', message: 'said' }
  const { detail, column, hint } = { detail: undefined, column: undefined, hint: undefined }
  const adapted = carryError(new DriverAdapterError({ ...cause, kind: 'postgres', detail, column, hint }))
  expect(damageOf(adapted)).toBe('said')
})

it.each([
  ['a missing table', raised('42P01')],
  ['a full disk', raised('53100')],
  ['a value that is too large', raised('XX000', 'invalid memory alloc request size 1073741824')],
  ['a refusal', carryError(new EmbeddedPostgresError('in use'))],
  ['an error of the program', carryError(new TypeError('x is not a function'))],
])('does not take %s for damage', (_, carried) => {
  expect(damageOf(carried)).toBeUndefined()
})
