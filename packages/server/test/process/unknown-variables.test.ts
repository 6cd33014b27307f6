import { expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'

it.each([
  ['STET_GRACE_MILLIS', 'STET_GRACE_MS'],
  ['STET_PORT', 'PORT'],
  ['STET_LOGLEVEL', 'STET_LOG_LEVEL'],
  ['STET_ENCRYPTION_KEYS', 'STET_ENCRYPTION_KEY'],
  ['STET_DATABASE_URL', 'DATABASE_URL'],
  ['STET_FROBNICATE', undefined],
])('reports the unknown variable %s and suggests %s', (variable, didYouMean) => {
  const { unknownVariables } = readConfig({ [variable]: 'secret' })
  expect(unknownVariables).toEqual([{ variable, ...(didYouMean && { didYouMean }) }])
  expect(JSON.stringify(unknownVariables)).not.toContain('secret')
})

it('does not warn about settings, client variables and variables of other programs', () => {
  const environment = { STET_GRACE_MS: '1', STET_API_KEY: 'k', STET_BASE_URL: 'u', STET_TEST_SEED: '1', PATH: '/bin' }
  expect(readConfig(environment).unknownVariables).toEqual([])
})
