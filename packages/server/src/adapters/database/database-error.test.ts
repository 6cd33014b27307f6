import { expect, it } from 'vitest'
import { Prisma } from '../../../generated/prisma/client.ts'
import { AppError } from '../../shared/app-error.ts'
import { translateDatabaseError } from './database-error.ts'

const known = (code: string) => new Prisma.PrismaClientKnownRequestError('secret', { code, clientVersion: '7' })

it.each(['P2024', 'P2028'])('maps %s to a 503 without the driver message', (code) => {
  const translated = translateDatabaseError(known(code))
  expect(translated).toBeInstanceOf(AppError)
  expect(translated).toMatchObject({ code: 'ServiceUnavailableError' })
  expect((translated as AppError).message).not.toContain('secret')
})

it('returns other database errors unchanged', () => {
  const refused = known('P2002')
  expect(translateDatabaseError(refused)).toBe(refused)
})
